// What is stored of an event is the same however often it comes, and nothing that is ignored or beyond the limits.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dump } from './dump.ts';
import { ErrorsBench } from './harness.ts';

let bench: ErrorsBench;
beforeAll(async () => {
  bench = await ErrorsBench.start();
});
afterAll(() => bench.service.stop());

const sent = {
  message: 'cannot read total',
  exception: {
    type: 'TypeError',
    value: 'total of undefined',
    stacktrace: [{ func: 'pay', file: 'src/pay.ts', line: 12, context_line: 'total.amount', vars: { items: 2 } }],
  },
  tags: { region: 'eu' },
  fingerprint: ['checkout', '{{ default }}'],
  breadcrumbs: [{ at: '2026-01-02T03:04:05Z', category: 'http', message: 'GET /cart', data: { status: 200 } }],
  context: { attempt: 2 },
  extra: { cart: [1, { deep: null }] },
  service: 'shop',
  code: 'E_PAY',
  stack: 'at pay (src/pay.ts:12:3)',
  runtime: { version: '24' },
};

test('an event sent again is read as the first', async () => {
  const shown: unknown[] = [];
  for (let time = 0; time < 4; time += 1) {
    const { event_id: id } = await bench.capture(sent);
    const { event_id, timestamp, received_at, previous_event_id, next_event_id, ...event } = await bench.get(id);
    shown.push({ ...event, group_count: 0, group_last_seen_at: '' });
  }
  expect(shown).toEqual([shown[0], shown[0], shown[0], shown[0]]);
});

test('a breadcrumb without a time is of the time of receipt', async () => {
  await bench.service.advance(10 * 86_400);
  for (const note of ['plain', 'plain', 'plain', 'password=swordfish']) {
    const { event_id } = await bench.capture({ breadcrumbs: [{ message: 'step' }], extra: { note } });
    const event = await bench.get(event_id);
    expect(event.breadcrumbs[0].at).toBe(event.received_at);
  }
});

test('what is ignored or beyond the limits is not stored, however often it comes', async () => {
  const own = await bench.withAccount();
  const frame = { func: 'f', file: 'a.ts', line: 1, context_pre: ['first-left-out', 'b', 'c', 'd', 'e', 'f'] };
  const events = [
    { message: 'm', client: 'unknown-left-out' },
    { exception: { type: 'E', stacktrace: [{ ...frame, context_pre: [], abs_path: 'member-left-out' }] } },
    { exception: { type: 'E', stacktrace: [{ ...frame, context_pre: [], function: 'name-left-out' }] } },
    { exception: { type: 'E', value: 'v', message: 'message-left-out' } },
    { exception: { type: 'E', stacktrace: [{ func: 'f' }], stack: [{ func: 'stack-left-out' }] } },
    { exception: { type: 'E', code: 'code-left-out' } },
    { exception: { type: 'E', stacktrace: [frame] } },
    {
      exception: {
        type: 'E',
        stacktrace: Array.from({ length: 251 }, (_, i) => ({ func: i === 126 ? 'frame-left-out' : 'f' })),
      },
    },
    { breadcrumbs: Array.from({ length: 101 }, (_, i) => ({ message: i === 0 ? 'crumb-left-out' : 'm' })) },
    { breadcrumbs: [{ message: 'm', note: 'note-left-out' }] },
    { tags: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`t${i}`, i === 100 ? 'tag-left-out' : 'v'])) },
  ];
  for (let time = 0; time < 4; time += 1) for (const event of events) await own.capture(event);
  expect(await own.number('SELECT count(*)::int AS number FROM errors.event WHERE account_id = $account')).toBe(
    events.length * 4,
  );
  expect((await dump(own.service.core)).match(/[a-z]+-left-out/g) ?? []).toEqual([]);
});
