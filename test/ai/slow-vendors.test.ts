// Streams of vendors that take their time: clients are kept by comments, and another vendor is asked as long as nothing of the answer is out,
// also once the head is.
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { chunk, type Deed, done, frame, type Json, opening, usage } from '../support/ai/openai-double.ts';
import { StreamReader } from '../support/ai/stream-reader.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

const EVERY_MS = 60;
let bench: AiVendors;
beforeAll(async () => {
  const call = { streamHeadAfterMs: 100, streamCommentEveryMs: EVERY_MS };
  bench = await AiVendors.start({}, undefined, {}, { admission: { call }, timeouts: PATIENT });
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const AT_ACME = ((10n * 1_000n + 5n * 2_000n) * 105n) / 100n;
const AT_CORP = ((10n * 1_200n + 5n * 2_400n) * 105n) / 100n;
const chat = { messages: [{ role: 'user', content: 'Hello.' }] };
const bodies = { '/v1/chat/completions': chat, '/v1/responses': { input: 'Hello.' } } as const;
type Path = keyof typeof bodies;
const paths = Object.keys(bodies) as Path[];
const open = (path: Path, over: object = {}) =>
  StreamReader.open(bench.service.url + path, bench.account.secret, { ...bodies[path], ...over });
const endOf = (events: Json[]) => ({ ...events.at(-1), ...events.at(-1).response });

describe.each(paths)('%s', (path) => {
  test('a vendor that says nothing for long is waited for, with a comment every so often and nothing else', async () => {
    const gate = Promise.withResolvers<void>();
    const word = frame(chunk({ content: 'Late, ' }));
    const rest = [frame(chunk({ content: 'but here.' }, 'stop')), frame({ ...chunk({}), choices: [], usage }), done];
    const pause = Promise.withResolvers<void>();
    bench.acme.next({ stream: [opening, gate.promise, word, pause.promise, ...rest] });
    const cost = await bench.spent(async () => {
      const beganMs = performance.now();
      const stream = await open(path);
      expect(stream.status).toBe(200);
      // Nobody is known to answer yet.
      expect([stream.headers.get('x-qm-vendor'), stream.headers.get('x-request-id')]).toEqual([
        null,
        expect.any(String),
      ]);
      await eventually(() => stream.comments >= 4);
      expect(stream.text).toMatch(/^(: waiting\n\n)+$/);
      expect(stream.comments).toBeLessThanOrEqual(1 + (performance.now() - beganMs) / EVERY_MS);
      gate.resolve();
      await eventually(() => stream.words.includes('Late, '));
      // In the middle of the answer too.
      const before = stream.comments;
      await eventually(() => stream.comments >= before + 2);
      pause.resolve();
      await stream.ended;
      expect([stream.words, stream.isWhole]).toEqual(['Late, but here.', true]);
      expect(endOf(stream.events).service_metadata).toMatchObject({ vendor: 'acme', cost_usd: Number(AT_ACME) / 1e9 });
    });
    expect(cost).toBe(AT_ACME);
  });

  test.each([
    ['without a word', (gate: Promise<void>): Deed => ({ after: gate, deed: 'reset' })],
    ['after its opening', (gate: Promise<void>): Deed => ({ stream: [opening, gate], ends: 'reset' })],
    [
      'with an error of its own',
      (gate: Promise<void>): Deed => ({ stream: [opening, gate, frame({ error: { message: 'no', code: 500 } })] }),
    ],
  ])('one that fails then, %s, is replaced by the next, and its client sees a whole answer', async (_, deed) => {
    const gate = Promise.withResolvers<void>();
    bench.acme.next(deed(gate.promise));
    const cost = await bench.spent(async () => {
      const stream = await open(path);
      gate.resolve();
      await stream.ended;
      expect([stream.words, stream.isWhole]).toEqual(['Hello from corp.', true]);
      const { error = null, service_metadata: told } = endOf(stream.events);
      expect([error, told.vendor]).toEqual([null, 'corp']);
      expect(told.failover_info).toMatchObject({ primary_vendor: 'acme', failover_reason: 'VENDOR_DOWN' });
    });
    expect(cost).toBe(AT_CORP);
  });

  test('when all fail then, the stream ends with an error of its wire, and costs nothing', async () => {
    const gate = Promise.withResolvers<void>();
    const busy = { status: 429, body: { error: { message: 'no', code: 'rate_limit_exceeded' } } };
    bench.acme.next({ after: gate.promise, deed: busy });
    bench.corp.next({ status: 500, body: { error: { message: 'no', code: 'server_error' } } });
    const cost = await bench.spent(async () => {
      const stream = await open(path);
      expect(stream.status).toBe(200);
      gate.resolve();
      await stream.ended;
      expect(stream.isWhole).toBe(false);
      const last = stream.events.at(-1);
      if (path === '/v1/responses') {
        expect(stream.events.map(({ type }) => type)).toEqual([
          ...['response.created', 'response.in_progress', 'response.failed'],
        ]);
        expect(last.response).toMatchObject({ status: 'failed', error: { code: 'RATE_LIMIT_VENDOR' }, output: [] });
      } else {
        expect(stream.events).toHaveLength(1);
        expect(last.error).toMatchObject({ code: 'RATE_LIMIT_VENDOR', type: 'rate_limit_error', param: null });
      }
      expect(endOf(stream.events).service_metadata).toMatchObject({ entry_form: 'openai_compat', cost_usd: 0 });
    });
    expect(cost).toBe(0n);
    expect([bench.acme.seen.length, bench.corp.seen.length]).toEqual([1, 1]);
  });
});

test('the official client passes over comments, and reads the answer of the vendor that stood in', async () => {
  const gate = Promise.withResolvers<void>();
  bench.acme.next({ after: gate.promise, deed: 'reset' });
  const openai = new OpenAI({ apiKey: bench.account.secret, baseURL: `${bench.service.url}/v1`, maxRetries: 0 });
  const stream = await openai.chat.completions.create({ model: 'auto', ...(chat as Json), stream: true });
  gate.resolve();
  const chunks: Json[] = await Array.fromAsync(stream as unknown as AsyncIterable<Json>);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello from corp.');
});
