// A call that is being answered is no silent connection, however long its vendor thinks: by every door that waits for one.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postMcp, toolCall } from '../support/mcp.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

const SILENCE_MS = 1_000;
let bench: AiVendors;
beforeAll(async () => {
  const connection = { silenceMs: SILENCE_MS, lookEveryMs: 100 };
  bench = await AiVendors.start({}, undefined, {}, { admission: { connection }, timeouts: PATIENT });
  bench.acme.rule = (seen) => ({ after: sleep(2.5 * SILENCE_MS), deed: bench.acme.usual(seen) });
});
afterAll(() => bench?.stop());

const messages = [{ role: 'user', content: 'Hello.' }];
const doors: [string, object][] = [
  ['/v1/chat/completions', { messages }],
  ['/v1/responses', { input: 'Hello.' }],
  ['/v1/ai/chat', { messages }],
  ['/v1/embeddings', { model: 'acme/e-1', input: 'Hello.' }],
  ['/v1/ai/embed', { model: 'acme/e-1', input: 'Hello.' }],
  ['/mcp/ai', toolCall('ai_chat', { messages })],
];

test.concurrent.each(doors)('%s is answered after two and a half times that', async (path, body) => {
  const { status, text } = await postMcp(bench.service.url + path, body, {
    authorization: `Bearer ${bench.account.secret}`,
  });
  expect(status, text).toBe(200);
  expect(text).toContain('acme');
});
