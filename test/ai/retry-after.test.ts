// When to repeat a call that a vendor did not take: told by every door in its own form, whether the vendor said so or not.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { StreamReader } from '../support/ai/stream-reader.ts';
import { connectMcp } from '../support/mcp.ts';
import { client } from '../support/service.ts';
import { BatchCaller } from './batches-harness.ts';
import { type AiBench, startAi } from './harness.ts';

let bench: AiBench;
beforeAll(async () => {
  bench = await startAi();
});
afterAll(() => bench?.service.stop());

const USUAL_MS = 5_000;
const codes = ['VENDOR_DOWN', 'RATE_LIMIT_VENDOR'] as const;
const model = 'sandbox/echo-1';
const chatOf = (content: string, over: object = {}) => ({ model, messages: [{ role: 'user', content }], ...over });
const call = (path: string, body: object) => client(bench.service.url, bench.account.secret)('POST', path, body);

describe.each(codes)('%s', (code) => {
  const failing = `[[fail:${code}]]`;

  test.each([
    ['/v1/chat/completions', chatOf(failing)],
    ['/v1/chat/completions', chatOf(failing, { stream: true })],
    ['/v1/responses', { model, input: failing }],
  ])('%s tells it in seconds, in milliseconds and in the error', async (path, body) => {
    const { headers, body: told } = await call(path, body);
    expect([headers.get('retry-after'), headers.get('retry-after-ms')]).toEqual(['5', '5000']);
    expect(told.error).toMatchObject({ code, retry_after_ms: USUAL_MS });
    expect(headers.get('x-should-retry')).toBeNull();
  });

  test('ai.chat tells it in the header and in the error', async () => {
    const { headers, body } = await call('/v1/ai/chat', chatOf(failing));
    expect(headers.get('retry-after')).toBe('5');
    expect(body.error).toMatchObject({ code, retryable: true, retry_after_ms: USUAL_MS });
  });

  test('a tool call tells it in its error', async () => {
    const mcp = await connectMcp('2025-11-25', `${bench.service.url}/mcp`, bench.account.secret);
    const { structuredContent } = await mcp.call('call_capability', { id: 'ai.chat', input: chatOf(failing) });
    expect(structuredContent.error).toMatchObject({ code, retry_after_ms: USUAL_MS });
    await mcp.close();
  });

  test('the result of a batch tells it in its error', async () => {
    const it = new BatchCaller(bench.service, bench.account);
    const { batch_id: id } = await it.create([{ custom_id: 'one', capability: 'ai.chat', body: chatOf(failing) }]);
    await eventually(async () => {
      await bench.service.advance(USUAL_MS / 1_000);
      return (await it.get(id)).finished_at;
    });
    const [{ error }] = (await it.results(id)) as [{ error: object }];
    expect(error).toEqual({ code, message: expect.any(String), retry_after_ms: USUAL_MS });
  });
});

test.each([
  ['/v1/chat/completions', chatOf('[[break:1]]', { stream: true })],
  ['/v1/responses', { model, input: '[[break:1]]', stream: true }],
])('%s tells it in a stream that broke off', async (path, body) => {
  const stream = await StreamReader.open(bench.service.url + path, bench.account.secret, body);
  await stream.ended;
  const last = stream.events.at(-1);
  expect((last?.response ?? last).error).toMatchObject({ code: 'VENDOR_DOWN', retry_after_ms: USUAL_MS });
});
