// A capture whose body is read in a thread is the same event as one that is read where it arrived, and keeps nobody waiting.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorsBench } from './harness.ts';

const SECRET = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc';

let bench: ErrorsBench;
beforeAll(async () => {
  bench = await ErrorsBench.start();
});
afterAll(() => bench.service.stop());

/** `padding` words decide how long the body is, and stand where they are seen in the answer. */
function event(padding: number): Record<string, unknown> {
  return {
    message: 'A long one \u0000 with \ud83e\udd8a',
    level: 'fatal',
    user_id: 'u-1',
    tags: { region: 'eu' },
    headers_seen: 'not a field',
    breadcrumbs: Array.from({ length: 101 }, (_, i) => ({ message: `step ${i}`, at: '2026-01-01T00:00:00.000Z' })),
    extra: { authorization: `Bearer ${SECRET}`, note: `key ${SECRET}`, padding: 'word '.repeat(padding) },
  };
}

test('is cleaned, cut, scrubbed and told about alike', async () => {
  const answers = await Promise.all([1, 40_000].map((padding) => bench.tryCapture(event(padding))));
  const [short, long] = await Promise.all(
    answers.map(async ({ status, body }) => ({ status, body, record: await bench.get(body.data.event_id) })),
  );
  expect(short?.status).toBe(200);
  expect(long?.body.metadata.warnings).toEqual(short?.body.metadata.warnings);
  expect(long?.body.metadata.warnings).toHaveLength(2);
  expect(long?.body.data.error_group_id).toBe(short?.body.data.error_group_id);
  expect(JSON.stringify(long?.record)).not.toContain(SECRET);
  expect(long?.record.extra.padding).toBe('word '.repeat(40_000));
  const own = { event_id: '', received_at: '', timestamp: '', previous_event_id: '', next_event_id: '', extra: {} };
  expect({ ...long?.record, ...own }).toEqual({ ...short?.record, ...own });
  expect({ ...long?.record.extra, padding: '' }).toEqual({ ...short?.record.extra, padding: '' });
});

test.each(['body', 'header'])('is captured once for its idempotency key, sent in the %s', async (place) => {
  const key = `long-${place}`;
  const body = { ...event(40_000), fingerprint: key, ...(place === 'body' ? { idempotency_key: key } : {}) };
  const headers: Record<string, string> = place === 'header' ? { 'idempotency-key': key } : {};
  const send = (sent: object) => bench.call('POST', '/v1/errors/capture', sent, headers);
  const [first, again] = [await send(body), await send(body)];
  expect(again.body.data).toEqual(first.body.data);
  expect(again.body.metadata.idempotent_replay).toBe(true);
  expect(await bench.get(first.body.data.event_id)).toMatchObject({ idempotency_key: key });
  expect((await send({ ...body, level: 'info' })).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
  expect(await bench.detail(first.body.data.error_group_id)).toMatchObject({ count: 1 });
});

test('is refused with the field that is wrong', async () => {
  const wrong = { ...event(40_000), level: 'loud' };
  expect(await bench.fails('POST', '/v1/errors/capture', wrong)).toMatchObject({
    code: 'VALIDATION_FAILED',
    param: 'level',
  });
});

test('a long message is captured as a short one', async () => {
  const text = (padding: number) => `Import of key ${SECRET} failed\u0000 ${'word '.repeat(padding)}`;
  const send = (padding: number) =>
    bench.ok('POST', '/v1/errors/message', {
      text: text(padding),
      fingerprint: 'long message',
      idempotency_key: `m-${padding}`,
    });
  const [short, long] = await Promise.all(
    [100, 40_000].map(async (padding) => bench.get((await send(padding)).event_id)),
  );
  expect(long.message).toMatch(/^Import of key \[scrubbed\] failed\ufffd word /);
  expect(long.message).toHaveLength(short.message.length + 39_900 * 5);
  expect(long).toMatchObject({ level: 'info', title: short.title, idempotency_key: 'm-40000' });
  expect((await send(40_000)).event_id).toBe(long.event_id);
  expect(await bench.fails('POST', '/v1/errors/message', { text: text(40_000), level: 'loud' })).toMatchObject({
    code: 'VALIDATION_FAILED',
    param: 'level',
  });
});
