// What calls of models may take at once, over HTTP: places of an account until the last byte, keys while their answer is under way, bodies, and
// what a client that does not read keeps waiting.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { untilMetric } from '../admission/harness.ts';
import { eventually } from '../cron/harness.ts';
import { chunk, completionOf, type Deed, done, frame, opening, usage } from '../support/ai/openai-double.ts';
import { StreamReader } from '../support/ai/stream-reader.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

const MIB = 1024 * 1024;
const CHAT = '/v1/chat/completions';
const PLACES = 20;

let bench: AiVendors;
beforeAll(async () => {
  const models = [
    { id: 'sees', images: true, max_output: 10 },
    { id: 'timed', timeouts: { ...PATIENT, total_ms: 2_000 } },
  ];
  bench = await AiVendors.start({}, undefined, { RATE_LIMITS: 'on' }, { models, timeouts: PATIENT });
});
afterAll(() => bench?.stop());
/** What a test that fails keeps waiting does not wait in the next. */
const gates: PromiseWithResolvers<void>[] = [];
afterEach(async () => {
  for (const { resolve } of gates.splice(0)) resolve();
  await bench.forgive();
});
function newGate(): PromiseWithResolvers<void> {
  const gate = Promise.withResolvers<void>();
  gates.push(gate);
  return gate;
}

const say = (over: object = {}) => ({
  model: 'acme/m-1',
  messages: [{ role: 'user', content: 'Hi.' }],
  max_tokens: 10,
  ...over,
});
const open = (body: object, headers?: Record<string, string>) =>
  StreamReader.open(bench.service.url + CHAT, bench.account.secret, body, headers);
const retryOf = ({ headers }: { headers: Headers }) =>
  ['retry-after', 'retry-after-ms', 'x-should-retry'].map((name) => headers.get(name));

/** All that a stream says, then what is waited for, then its end marker. */
const told = [
  opening,
  frame(chunk({ content: 'Hi.' })),
  frame(chunk({}, 'stop')),
  frame({ ...chunk({}), choices: [], usage }),
];
const halting = (gate: Promise<unknown>): Deed => ({ stream: [...told, gate, done] });

test('the next call than an account may have is refused at every door, in its shape, until the last byte of another is out', async () => {
  const places = Array.from({ length: PLACES }, newGate);
  bench.acme.next(...places.map(({ promise }) => halting(promise)));
  const streams = await Promise.all(places.map(() => open(say())));
  await eventually(() => streams.every(({ words }) => words === 'Hi.'));
  const before = await bench.funds();
  const doors: [string, object][] = [
    [CHAT, say()],
    [CHAT, say({ stream: true })],
    ['/v1/responses', { model: 'acme/m-1', input: 'Hi.' }],
    ['/v1/responses', { model: 'acme/m-1', input: 'Hi.', stream: true }],
    ['/v1/embeddings', { input: 'a' }],
  ];
  for (const [path, body] of doors) {
    const refused = await bench.call('POST', path, body);
    const error = {
      code: 'CONCURRENCY_LIMITED',
      type: 'rate_limit_error',
      param: null,
      message: expect.stringContaining('20'),
      retry_after_ms: 1_000,
    };
    expect([path, refused.status, refused.body.error]).toEqual([path, 429, error]);
    expect(retryOf(refused)).toEqual(['1', '1000', null]);
  }
  const enveloped = await bench.call('POST', '/v1/ai/chat', say());
  expect([enveloped.status, enveloped.body.error]).toMatchObject([
    429,
    { code: 'CONCURRENCY_LIMITED', retryable: true },
  ]);
  // Nothing was held, and nobody was asked.
  expect([await bench.funds(), bench.acme.seen.length]).toEqual([before, PLACES]);
  const other = await bench.poor(1);
  expect((await other('POST', CHAT, say())).status).toBe(200);
  // One ends, and its client leaves another: there are two places again, and no third.
  places[0]?.resolve();
  await streams[0]?.ended;
  streams[1]?.leave();
  const [one, two] = [newGate(), newGate()];
  bench.acme.next(halting(one.promise), halting(two.promise));
  const further = [await openOnceThereIsRoom(), await openOnceThereIsRoom()];
  expect((await bench.call('POST', CHAT, say())).status).toBe(429);
  for (const { resolve } of gates) resolve();
  await Promise.all([...streams, ...further].map(({ ended }) => ended));
  expect([...streams, ...further].filter(({ isWhole }) => isWhole)).toHaveLength(PLACES + 1);
});

function openOnceThereIsRoom(): Promise<StreamReader> {
  return eventually(async () => {
    const stream = await open(say());
    return stream.status === 200 ? stream : null;
  });
}

describe('a key whose answer is under way', () => {
  test('is waited for for two seconds, then told of, and repeated once it is there, for nothing', async () => {
    const gate = newGate();
    bench.acme.next(halting(gate.promise));
    const key = { 'idempotency-key': 'under way' };
    const first = await open(say(), key);
    await eventually(() => first.words === 'Hi.');
    const waited = async (stream: boolean) => {
      const beganMs = performance.now();
      const refused = await bench.call('POST', CHAT, say({ stream }), key);
      return { refused, ms: performance.now() - beganMs };
    };
    for (const { refused, ms } of await Promise.all([waited(true), waited(false)])) {
      const error = { code: 'IDEMPOTENCY_IN_FLIGHT', type: 'invalid_request_error', param: 'idempotency_key' };
      expect([refused.status, refused.body.error]).toMatchObject([409, error]);
      // The official client repeats it by itself.
      expect(retryOf(refused)).toEqual(['1', '1000', null]);
      // The last look may come a little before.
      expect(ms).toBeGreaterThanOrEqual(1_800);
    }
    const free = await bench.spent(async () => {
      const awaiting = [bench.call('POST', CHAT, say(), key), bench.call('POST', CHAT, say({ stream: true }), key)];
      await untilMetric(bench.service, 'qm_calls_running', 3);
      gate.resolve();
      await first.ended;
      const [whole, streamed] = await Promise.all(awaiting);
      expect([first.isWhole, whole?.status, streamed?.status]).toEqual([true, 200, 200]);
      expect(whole?.body.choices[0].message.content).toBe('Hi.');
      expect(whole?.body.service_metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
      expect(streamed?.text).toContain('"idempotent_replay":true');
    });
    // The first alone.
    expect(free).toBe(((10n * 1_000n + 5n * 2_000n) * 105n) / 100n);
    expect(bench.acme.seen).toHaveLength(1);
  });
});

describe('a body', () => {
  const url = (bytes: number) => `data:image/png;base64,${'A'.repeat(bytes)}`;
  const picture = (bytes: number) =>
    say({
      model: 'acme/sees',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: url(bytes) } }] }],
    });

  test('of nearly 16 MiB goes to the vendor as it came', async () => {
    bench.acme.next({ status: 200, body: completionOf('Seen.') });
    const { status } = await bench.call('POST', CHAT, picture(15 * MIB));
    expect([status, bench.acme.seen[0]?.body.messages[0].content[0].image_url.url.length]).toEqual([
      200,
      15 * MIB + 22,
    ]);
  });

  test.each([CHAT, '/v1/responses', '/v1/embeddings'])(
    'of more than 16 MiB is refused in the shape of %s',
    async (path) => {
      const paid = await bench.spent(async () => {
        const refused = await bench.call('POST', path, picture(16 * MIB));
        expect([refused.status, refused.headers.get('x-should-retry'), refused.body.error]).toMatchObject([
          ...[413, 'false', { code: 'PAYLOAD_TOO_LARGE', type: 'invalid_request_error', param: null }],
        ]);
        expect(refused.body.service_metadata).toMatchObject({ entry_form: 'openai_compat' });
      });
      expect([paid, bench.acme.seen.length]).toEqual([0n, 0]);
    },
  );
});

test('who does not read holds the vendor back, is cut when the time is over, and pays what had come', async () => {
  bench.acme.next({ opening, endless: frame(chunk({ content: 'word '.repeat(2_000) })) });
  const funds = await bench.funds();
  const response = await fetch(bench.service.url + CHAT, {
    method: 'POST',
    body: JSON.stringify(say({ model: 'acme/timed', max_tokens: 1_000, stream: true })),
    headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await eventually(() => bench.acme.seen[0]?.left === true);
  // Most of it is in the sockets of both sides: unread, an answer of two seconds would be hundreds of megabytes.
  expect(bench.acme.seen[0]?.sentBytes).toBeLessThan(32 * MIB);
  let tail = Buffer.alloc(0);
  for (let read = await reader.read(); !read.done; read = await reader.read())
    tail = Buffer.concat([tail.subarray(-20_000), read.value]);
  const last = JSON.parse(tail.toString('utf8').trim().split('\n\ndata: ').at(-1) as string);
  const { balance, held } = await bench.funds();
  expect(last.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', type: 'server_error' });
  expect([last.service_metadata.cost_usd, held]).toEqual([Number(funds.balance - balance) / 1e9, 0n]);
  expect(funds.balance - balance).toBeGreaterThan(0n);
});
