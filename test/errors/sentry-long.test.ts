// Long bodies of SDKs are read in a thread: what is captured, and what is refused, is as with short ones.
import zlib from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reply } from '../support/service.ts';
import { ErrorsBench } from './harness.ts';
import { envelope, eventId, SentryBench } from './sentry-harness.ts';

const SECRET = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc';
const LONG = 40_000;

let bench: SentryBench;
beforeAll(async () => {
  bench = await SentryBench.of(await ErrorsBench.start());
});
afterAll(() => bench.service.stop());

function event(padding: number, fields: Record<string, unknown> = {}) {
  return {
    event_id: eventId(),
    message: 'A long one \u0000 with \ud83e\udd8a',
    timestamp: Date.now() / 1000,
    tags: { region: 'eu' },
    user: { id: 'u-1', email: 'someone@example.org' },
    extra: { authorization: `Bearer ${SECRET}`, note: `key ${SECRET}`, padding: 'word '.repeat(padding) },
    ...fields,
  };
}

type Send = (event: Record<string, unknown>) => Promise<Reply>;
const ways: [string, Send][] = [
  ['an envelope', (sent) => bench.post(bench.url(), envelope(sent))],
  [
    'an envelope in gzip',
    (sent) => bench.post(bench.url(), zlib.gzipSync(envelope(sent)), { 'content-encoding': 'gzip' }),
  ],
  [
    'an envelope that alone names the key',
    (sent) => bench.post(bench.url('envelope', null), envelope(sent, { dsn: bench.dsn })),
  ],
  ['an event by itself', (sent) => bench.post(bench.url('store'), JSON.stringify(sent))],
];

test.each(ways)('%s is captured alike', async (_, send) => {
  const [short, long] = await Promise.all(
    [1, LONG].map(async (padding) => {
      const sent = event(padding);
      const reply = await send(sent);
      expect(reply.status, reply.text).toBe(200);
      expect(reply.body).toEqual({ id: sent.event_id });
      return bench.captured(sent.event_id);
    }),
  );
  expect(JSON.stringify(long)).not.toContain(SECRET);
  expect(JSON.stringify(long)).not.toContain('someone@example.org');
  expect(long.extra.padding).toBe('word '.repeat(LONG));
  const own = { event_id: '', received_at: '', timestamp: '', previous_event_id: '', next_event_id: '' };
  const apart = { ...own, idempotency_key: '', extra: {}, group_count: 0, group_last_seen_at: '' };
  expect({ ...long, ...apart }).toEqual({ ...short, ...apart });
  expect({ ...long.extra, padding: '' }).toEqual({ ...short.extra, padding: '' });
});

test('one that comes again is captured once', async () => {
  const sent = event(LONG, { fingerprint: ['again'] });
  const replies = [await bench.sendEvent(sent), await bench.sendEvent(sent)];
  expect(replies.map(({ status, body }) => [status, body.id])).toEqual([
    [200, sent.event_id],
    [200, sent.event_id],
  ]);
  expect(await bench.captured(sent.event_id)).toMatchObject({ group_count: 1 });
});

test('refusals are the same', async () => {
  const refusals = async (padding: number) => {
    const sent = event(padding);
    const broken = envelope(sent).subarray(0, -5);
    const bodies = [envelope({ ...sent, event_id: 'x' }), broken, Buffer.concat([envelope(sent), envelope(sent)])];
    const replies = [
      ...(await Promise.all(bodies.map((body) => bench.post(bench.url(), body)))),
      await bench.post(bench.url('store'), JSON.stringify(sent).slice(0, -1)),
      await bench.post(bench.url('store', null), JSON.stringify(sent)),
    ];
    return replies.map(({ status, body }) => [status, body.code, body.detail, body.param]);
  };
  const [short, long] = [await refusals(1), await refusals(LONG)];
  expect(long).toEqual(short);
  expect(short.map(([status, code]) => `${status} ${code}`)).toEqual([
    '400 VALIDATION_FAILED',
    '400 INVALID_REQUEST',
    '400 INVALID_REQUEST',
    '400 MALFORMED_JSON',
    '401 UNAUTHORIZED',
  ]);
});

test('a header too long to look for a key in is refused', async () => {
  const header = (characters: number) => envelope(event(1), { dsn: bench.dsn, note: 'x'.repeat(characters) });
  expect((await bench.post(bench.url('envelope', null), header(60_000))).status).toBe(200);
  const reply = await bench.post(bench.url('envelope', null), header(70_000));
  expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_REQUEST']);
});
