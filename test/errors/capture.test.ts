// What a capture stores, and what it costs.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CAPTURE_NANOS, ErrorsBench } from './harness.ts';

let shared: ErrorsBench;
let bench: ErrorsBench;
beforeAll(async () => {
  shared = await ErrorsBench.start();
  bench = await shared.withAccount();
});
afterAll(() => shared.service.stop());

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

const sent = {
  title: 'Checkout broke',
  message: 'cannot read total',
  exception: {
    type: 'TypeError',
    value: 'total of undefined',
    stacktrace: [
      {
        func: 'pay',
        file: 'src/pay.ts',
        line: 12,
        col: 3,
        in_app: true,
        context_pre: ['a', 'b'],
        context_line: 'total.amount',
        context_post: ['c'],
        vars: { cart: { items: 2 } },
      },
    ],
  },
  level: 'fatal',
  tags: { region: 'eu', shop: 'b' },
  user_id: 'u-1',
  fingerprint: ['checkout', '{{ default }}'],
  breadcrumbs: [
    { at: '2026-01-02T03:04:05Z', category: 'http', message: 'GET /cart', level: 'info', data: { status: 200 } },
  ],
  context: { attempt: 2 },
  extra: { cart: [1, { deep: null }] },
  environment: 'production',
  release: '1.2.3',
  service: 'shop',
  code: 'E_PAY',
  stack: 'at pay (src/pay.ts:12:3)',
  sdk: { name: 'own', version: '1' },
  runtime: { name: 'node', version: '24' },
  idempotency_key: 'every-field',
};

test('every field that is sent comes back', async () => {
  const result = await bench.capture(sent);
  expect(result).toEqual({
    event_id: expect.stringMatching(/^evt_err_[A-Za-z0-9]{20,}$/),
    fingerprint: sha256('["checkout","cannot read total"]'),
    error_group_id: expect.stringMatching(/^errgrp_[A-Za-z0-9]{20,}$/),
    is_new_group: true,
    reopened: false,
    dashboard_url: `${bench.service.url}/console/errors/${result.error_group_id}`,
  });
  const event = await bench.get(result.event_id);
  expect(event).toMatchObject({
    event_id: result.event_id,
    error_group_id: result.error_group_id,
    fingerprint: result.fingerprint,
    title: sent.title,
    message: sent.message,
    exception: sent.exception,
    level: 'fatal',
    tags: sent.tags,
    user_id: 'u-1',
    breadcrumbs: sent.breadcrumbs,
    context: { attempt: 2, service: 'shop' },
    extra: { ...sent.extra, code: 'E_PAY', stack: sent.stack },
    environment: 'production',
    release: '1.2.3',
    sdk: sent.sdk,
    runtime: sent.runtime,
    request: null,
    user: null,
    idempotency_key: 'every-field',
    fingerprint_source: 'user',
    is_resolved: false,
    is_ignored: false,
    group_count: 1,
    group_user_count: 1,
    previous_event_id: null,
    next_event_id: null,
  });
  expect(event.timestamp).toBe(event.received_at);
  expect(event.group_first_seen_at).toBe(event.received_at);
});

test.each([
  ['no body', undefined],
  ['an empty one', ''],
])('%s is an empty event', async (_, body) => {
  const own = await shared.withAccount();
  const { secret } = own.account;
  const send = () =>
    fetch(`${own.service.url}/v1/errors/capture`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'idempotency-key': `empty ${body}` },
      body,
    });
  const replies = [await send(), await send()];
  const [first, again] = (await Promise.all(replies.map((reply) => reply.json()))) as { data: { event_id: string } }[];
  expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  expect(await own.get(first?.data.event_id as string)).toMatchObject({
    title: 'Error',
    message: null,
    group_count: 1,
  });
  expect(again?.data).toEqual(first?.data);
});

test('errors that are sent as texts with an empty message are told apart', async () => {
  const groups = await Promise.all(['one', 'two'].map((exception) => bench.capture({ message: '', exception })));
  expect(groups[0].error_group_id).not.toBe(groups[1].error_group_id);
  expect(await bench.get(groups[0].event_id)).toMatchObject({ message: 'one', title: 'one' });
});

test('an empty event is an event; null is the same as not sent', async () => {
  const empty = await bench.capture();
  const nulls = await bench.capture({ message: null, level: null, tags: null, fingerprint: [], exception: null });
  expect(nulls.error_group_id).toBe(empty.error_group_id);
  expect(await bench.get(nulls.event_id)).toMatchObject({
    title: 'Error',
    message: null,
    level: 'error',
    tags: {},
    breadcrumbs: [],
    exception: null,
    fingerprint_source: 'default',
    group_count: 2,
    previous_event_id: empty.event_id,
  });
});

test('the three forms of one text are one group: message, exception as text, errors.message', async () => {
  const text = 'disk is full';
  const results = [
    await bench.capture({ message: text }),
    await bench.capture({ exception: text }),
    await bench.ok('POST', '/v1/errors/message', { text }),
    await bench.capture({ fingerprint: text, message: 'another' }),
  ];
  expect(new Set(results.map(({ fingerprint }) => fingerprint))).toEqual(new Set([sha256(text)]));
  expect(new Set(results.map(({ error_group_id }) => error_group_id)).size).toBe(1);
  expect(await bench.get(results[1].event_id)).toMatchObject({
    message: text,
    title: text,
    exception: { type: 'Message', value: text, stacktrace: [] },
  });
  expect(await bench.get(results[2].event_id)).toMatchObject({ message: text, title: text, level: 'info' });
});

test('a title that is not sent is the first 120 characters of the message', async () => {
  const message = '😀'.repeat(200);
  const event = await bench.get((await bench.capture({ message })).event_id);
  expect(event.title).toBe('😀'.repeat(120));
  expect(event.message).toBe(message);
});

describe('text', () => {
  test.each(['é', 'e\u0301', '👩‍👩‍👧 😀', 'שלום \u202eabc', ' spaces ', '\n\t', '\\u0000', '"', '<script>'])(
    '%j goes round unchanged and groups by its bytes',
    async (message) => {
      const result = await bench.capture({ message, tags: { [`k${message}`]: message } });
      expect(result.fingerprint).toBe(sha256(message));
      expect(await bench.get(result.event_id)).toMatchObject({ message, tags: { [`k${message}`]: message } });
    },
  );

  test('NUL and lone surrogates become U+FFFD wherever they stand', async () => {
    const bad = 'a\0b\ud800c';
    const good = 'a\ufffdb\ufffdc';
    const { event_id } = await bench.capture({
      message: bad,
      title: bad,
      user_id: bad,
      release: bad,
      tags: { [bad]: bad },
      fingerprint: [bad, 'x'],
      exception: { type: bad, value: bad, stacktrace: [{ func: bad, vars: { [bad]: bad } }] },
      breadcrumbs: [{ message: bad, data: { x: bad } }],
      context: { [bad]: [bad] },
      extra: { x: bad },
      idempotency_key: 'nul',
    });
    const event = await bench.get(event_id);
    expect(event).toMatchObject({ message: good, title: good, user_id: good, release: good, tags: { [good]: good } });
    expect(event.exception).toMatchObject({ type: good, stacktrace: [{ func: good, vars: { [good]: good } }] });
    expect(event.context).toEqual({ [good]: [good] });
    expect(JSON.stringify(event)).not.toMatch(/\\u0000|\\ud800/);
    const detail = await bench.detail(event.error_group_id);
    expect(detail.user_distribution).toEqual({ [good]: 1 });
    expect(detail.tag_distribution).toEqual({ [`${good}:${good}`]: 1 });
  });
});

test('what is beyond the limits is cut, and named in warnings', async () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
  const { body } = await bench.tryCapture({
    message: 'too much',
    exception: { type: 'E', value: 'v', stacktrace: numbers(400).map((line) => ({ func: 'f', line })) },
    tags: Object.fromEntries(numbers(101).map((i) => [`t${i}`, 'v'])),
    breadcrumbs: numbers(120).map((i) => ({ message: String(i) })),
  });
  expect(body.metadata.warnings).toHaveLength(3);
  const event = await bench.get(body.data.event_id);
  expect(event.exception.stacktrace).toHaveLength(250);
  expect(event.exception.stacktrace[125].func).toBe('(151 frames omitted)');
  expect(Object.keys(event.tags)).toHaveLength(100);
  expect(event.breadcrumbs.map(({ message }: { message: string }) => message)).toEqual(
    numbers(100).map((i) => String(i + 20)),
  );
});

test('an event of nearly a megabyte is stored whole and counted like any other', async () => {
  const one = await shared.withAccount();
  const message = 'large '.repeat(160_000);
  const first = await one.capture({ message: 'start', fingerprint: 'large' });
  const [large, small] = await Promise.all([
    one.capture({ message, fingerprint: 'large', user_id: 'u' }),
    one.capture({ message: 'small', fingerprint: 'large', user_id: 'u' }),
  ]);
  expect(new Set([first, large, small].map(({ error_group_id }) => error_group_id)).size).toBe(1);
  expect((await one.get(large.event_id)).message).toBe(message);
  expect(
    (await one.list()).items.find(({ event_id }: { event_id: string }) => event_id === large.event_id).message,
  ).toBe(message.slice(0, 10_000));
  expect(await one.detail(first.error_group_id)).toMatchObject({ count: 3, user_count: 1 });
  expect(await one.spentNanos()).toBe(3n * CAPTURE_NANOS);
});

describe('refused', () => {
  test.each([
    [{ environment: 'prod' }, 'environment'],
    [{ level: 'critical' }, 'level'],
    [{ tags: { a: {} } }, 'tags.a'],
    [{ user_id: [1] }, 'user_id'],
    [{ breadcrumbs: [{ timestamp: '2026-01-02' }] }, 'breadcrumbs[0].timestamp'],
    [{ user_id: 'x'.repeat(257) }, 'user_id'],
    [{ fingerprint: [1] }, 'fingerprint[0]'],
    [{ exception: { stacktrace: [{ line: -1 }] } }, 'exception.stacktrace[0].line'],
    [{ exception: 7 }, 'exception'],
    [{ breadcrumbs: [{ level: 'loud' }] }, 'breadcrumbs[0].level'],
  ])('%j', async (fields, param) => {
    const before = await bench.spentNanos();
    expect(await bench.fails('POST', '/v1/errors/capture', fields)).toMatchObject({ code: 'VALIDATION_FAILED', param });
    expect(await bench.spentNanos()).toBe(before);
  });

  test('errors.message without a text', async () => {
    expect(await bench.fails('POST', '/v1/errors/message', { text: '' })).toMatchObject({ param: 'text' });
    expect(await bench.fails('POST', '/v1/errors/message', {})).toMatchObject({ param: 'text' });
  });
});

test('a repeated idempotency key is the first answer, stored and paid once', async () => {
  const one = await shared.withAccount();
  const fields = { message: 'once', idempotency_key: 'k' };
  const [first, ...others] = await Promise.all(Array.from({ length: 10 }, () => one.capture(fields)));
  for (const other of others) expect(other).toEqual(first);
  expect((await one.list()).total).toBe(1);
  expect(await one.spentNanos()).toBe(CAPTURE_NANOS);
  expect(await one.fails('POST', '/v1/errors/capture', { ...fields, level: 'info' })).toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
  });
});

test('with money for three of five at once, three are stored and two leave nothing', async () => {
  const poor = await shared.withAccount(0.00015);
  const replies = await Promise.all(Array.from({ length: 5 }, () => poor.tryCapture({ message: 'm', user_id: 'u' })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 402, 402]);
  const { items, total } = await poor.list();
  expect([items.length, total]).toEqual([3, 3]);
  const detail = await poor.detail(items[0].error_group_id);
  expect(detail).toMatchObject({ count: 3, user_distribution: { u: 3 } });
  expect(await poor.spentNanos()).toBe(3n * CAPTURE_NANOS);
  expect(await poor.number('SELECT count(*)::int AS number FROM errors.event WHERE account_id = $account')).toBe(3);
});

test('a refused first event leaves no group', async () => {
  const broke = await shared.withAccount(0);
  expect((await broke.tryCapture({ message: 'm' })).status).toBe(402);
  expect(await broke.groups()).toMatchObject({ groups: [], total: 0 });
  expect(await broke.told()).toEqual([]);
});
