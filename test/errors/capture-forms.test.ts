// Reports as programs write them: under names of other tools, with numbers for texts, with a user in place of a user_id. None of it
// is a reason to lose one, and what is not understood is named.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dump } from './dump.ts';
import { ErrorsBench } from './harness.ts';

type Fields = Record<string, unknown>;

let shared: ErrorsBench;
let bench: ErrorsBench;
beforeAll(async () => {
  shared = await ErrorsBench.start();
  bench = await shared.withAccount();
});
afterAll(() => shared.service.stop());

/** What is stored of a report, and what its sender was told. */
async function report(fields: Fields) {
  const { status, text, body } = await bench.tryCapture(fields);
  expect(status, text).toBe(200);
  return { ...(await bench.get(body.data.event_id)), warnings: body.metadata.warnings ?? [] };
}

/** The same report short, and long enough to be read in a thread. */
const lengths: [string, Fields][] = [
  ['short', {}],
  ['long', { extra: { padding: 'word '.repeat(20_000) } }],
];

describe.each(lengths)('a %s report', (_length, more) => {
  test('takes scalars as texts in user_id, tags and release, whole numbers with all their digits', async () => {
    const fields = {
      message: 'scalars',
      user_id: 17,
      release: 1.5,
      tags: { n: 3, f: -0.25, b: true, t: 'x', none: null },
    };
    const event = await report({ ...fields, ...more });
    expect(event).toMatchObject({ user_id: '17', release: '1.5', tags: { n: '3', f: '-0.25', b: 'true', t: 'x' } });
    expect(event).toMatchObject({ warnings: [] });
    expect(Object.keys(event.tags)).toHaveLength(4);

    const text = JSON.stringify({ ...fields, ...more, user_id: 0, tags: { id: 1 }, release: 2 });
    const raw = text
      .replace('"user_id":0', '"user_id":9223372036854775807')
      .replace('"id":1', '"id" : 90071992547409931');
    const reply = await fetch(`${bench.service.url}/v1/errors/capture`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
      body: raw,
    });
    const { data } = (await reply.json()) as { data: { event_id: string } };
    expect(await bench.get(data.event_id)).toMatchObject({
      user_id: '9223372036854775807',
      tags: { id: '90071992547409931' },
      release: '2',
    });
  });

  test('takes frames, exceptions and breadcrumbs under their other names', async () => {
    const frame = { filename: 'Pay.java', lineno: 42, colno: 7, module: 'com.example.Pay' };
    const event = await report({
      exception: {
        type: 'PayError',
        message: 'no funds',
        module: 'com.example.errors',
        mechanism: { type: 'onerror', handled: false, data: { try: 1 } },
        stacktrace: [
          { function: 'pay', ...frame },
          { func: 'own', function: 'other', file: 'own.ts', line: 1 },
        ],
      },
      breadcrumbs: [
        { timestamp: '2026-01-02T03:04:05Z', message: 'a text' },
        { timestamp: 1_760_000_000.5, message: 'seconds' },
        { timestamp: 1e300, message: 'no instant' },
      ],
      ...more,
    });
    expect(event.title).toBe('PayError: no funds');
    expect(event.exception).toEqual({
      type: 'PayError',
      value: 'no funds',
      module: 'com.example.errors',
      mechanism: { type: 'onerror', handled: false, data: { try: 1 } },
      handled: false,
      stacktrace: [
        expect.objectContaining({ func: 'pay', file: 'Pay.java', line: 42, col: 7, module: 'com.example.Pay' }),
        expect.objectContaining({ func: 'own', file: 'own.ts', line: 1, col: null }),
      ],
    });
    expect(event.exception.stacktrace[1]).not.toHaveProperty('module');
    expect(event.breadcrumbs.map(({ at }: { at: string }) => at)).toEqual([
      '2026-01-02T03:04:05Z',
      '2025-10-09T08:53:20.500Z',
      event.received_at,
    ]);
    const { representative_event: shown } = await bench.detail(event.error_group_id);
    expect(shown.exception).toEqual(event.exception);
  });

  test('takes a stack as text or as frames', async () => {
    const asText = await report({ exception: { message: 'boom', stack: 'at pay (pay.ts:1:2)' }, ...more });
    expect(asText.extra.stack).toBe('at pay (pay.ts:1:2)');
    expect(asText.exception).toEqual({ type: 'Error', value: 'boom', stacktrace: [] });
    const frames = [{ function: 'pay' }];
    const asFrames = await report({ exception: { value: 'boom', stack: frames, stacktrace: [] }, ...more });
    expect(asFrames.exception.stacktrace).toMatchObject([{ func: 'pay' }]);
    const handled = await report({ exception: { value: 'boom', handled: true }, ...more });
    expect(handled.exception).toEqual({ type: 'Error', value: 'boom', handled: true, stacktrace: [] });
  });

  test('groups and titles an exception by its message as by its value', async () => {
    const both = [
      { type: 'E', value: 'alike' },
      { type: 'E', message: 'alike' },
    ];
    const events = await Promise.all(both.map((exception) => report({ exception, ...more })));
    expect(new Set(events.map(({ error_group_id: id }) => id)).size).toBe(1);
    expect(events.map(({ title }) => title)).toEqual(['E: alike', 'E: alike']);
  });

  test('names nested fields that nobody knows', async () => {
    const { warnings, exception } = await report({
      exception: { type: 'E', code: 5, stacktrace: [{ func: 'f' }, { abs_path: '/srv/a.py', vars: { any: 1 } }] },
      breadcrumbs: [{ message: 'm', type: 'http', data: { any: 1 } }],
      context: { any: { thing: 1 } },
      ...more,
    });
    expect(warnings).toEqual([
      'exception.code: unknown field, ignored',
      'exception.stacktrace[1].abs_path: unknown field, ignored',
      'breadcrumbs[0].type: unknown field, ignored',
    ]);
    expect(exception).not.toHaveProperty('code');
    const stacktrace = Array.from({ length: 200 }, (_, i) => ({ func: 'f', [`unknown${i}`]: 1 }));
    const { warnings: many } = await report({ exception: { stacktrace }, ...more });
    expect(many).toHaveLength(21);
    expect(many.at(-1)).toBe('and 180 more unknown fields, ignored');
  });
});

describe('without a user_id', () => {
  const HASH = /^hashed_[\w-]{22}$/;
  const userOf = async (user: unknown, on = bench, fields: Fields = {}) => {
    const { event_id: id } = await on.capture({ message: 'whose', user, ...fields });
    return (await on.get(id)).user_id;
  };

  test('the user counts by id', async () => {
    expect(await userOf({ id: 'u-1', email: 'a@example.org' })).toBe('u-1');
    expect(await userOf({ id: 9 })).toBe('9');
    expect(await userOf({ id: 'u-1' }, bench, { user_id: 'own' })).toBe('own');
    expect(await userOf({ id: 'x'.repeat(300) })).toBe('x'.repeat(256));
  });

  test('else by a hash of e-mail or address, the same in every writing', async () => {
    const hashes = [
      await userOf({ email: 'bob@example.org' }),
      await userOf({ email: ' Bob@Example.org' }),
      await userOf({ id: 'bob@example.org' }),
      await userOf({ email: 'eve@example.org' }),
      await userOf({ ip: '203.0.113.9' }),
      await userOf({ ip_address: '203.0.113.9' }),
      await userOf({ email: 'bob@example.org', ip: '203.0.113.9' }),
    ];
    for (const hash of hashes) expect(hash).toMatch(HASH);
    const [bob, spelt, asId, eve, ip, address, both] = hashes;
    expect([spelt, asId, both, address]).toEqual([bob, bob, bob, ip]);
    expect(new Set([bob, eve, ip]).size).toBe(3);
  });

  test('what is no address is nobody', async () => {
    for (const user of [
      {},
      { email: '' },
      { email: '[Filtered]' },
      { ip_address: '{{auto}}' },
      { ip: 7 },
      { id: {} },
      null,
    ]) {
      expect(await userOf(user)).toBeNull();
    }
  });

  test('users are counted, found and shown by it, and another account has other hashes', async () => {
    const own = await shared.withAccount();
    const people = ['a@example.org', 'b@example.org', 'a@example.org'];
    const [a, b] = await Promise.all(people.map((email) => userOf({ email }, own)));
    const { error_group_id: group } = await own.capture({ message: 'whose', user: { email: 'b@example.org' } });
    expect(await own.detail(group)).toMatchObject({ user_count: 2, user_distribution: { [a]: 2, [b]: 2 } });
    expect((await own.list({ filter: { user_id: a } })).items).toHaveLength(2);
    expect(await userOf({ email: 'a@example.org' })).not.toBe(a);
  });

  test('neither the address nor any plain hash of it is stored, or told', async () => {
    const email = 'mallory.unique@example.org';
    const own = await shared.withAccount();
    await userOf({ email, ip_address: '198.51.100.77' }, own);
    await userOf({ id: email }, own);
    const stored = (await dump(shared.service.core)) + JSON.stringify(await own.told());
    expect(stored).not.toContain('mallory.unique');
    expect(stored).not.toContain('198.51.100.77');
  });
});

test('a capture tells whether it opened its group again', async () => {
  const first = await bench.capture({ message: 'again' });
  expect(first).toMatchObject({ is_new_group: true, reopened: false });
  await bench.change('resolve', first.error_group_id);
  expect(await bench.capture({ message: 'again' })).toMatchObject({ is_new_group: false, reopened: true });
  expect(await bench.capture({ message: 'again' })).toMatchObject({ is_new_group: false, reopened: false });
  const viaMessage = await bench.ok('POST', '/v1/errors/message', { text: 'again', tags: { n: 1 }, user_id: 5 });
  expect(viaMessage).toMatchObject({ is_new_group: false, reopened: false });
  expect(await bench.get(viaMessage.event_id)).toMatchObject({ tags: { n: '1' }, user_id: '5' });
});

test('secrets under the other names are scrubbed like under the first', async () => {
  const secret = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc';
  const event = await report({
    exception: {
      message: `key ${secret}`,
      module: secret,
      mechanism: { data: { password: 'swordfish', note: secret } },
      stack: [{ function: secret, filename: `https://a:${secret}@host/x`, module: secret }],
    },
    tags: { card: 4_111_111_111_111_111 },
    breadcrumbs: [{ timestamp: '2026-01-02T03:04:05Z', message: 'to bob@example.org' }],
  });
  const text = JSON.stringify(event);
  for (const hidden of [secret, 'swordfish', '4111111111111111', 'bob@example.org']) expect(text).not.toContain(hidden);
  expect(event.exception.mechanism).toEqual({ data: { password: '[scrubbed]', note: '[scrubbed]' } });
});

test('a title cut from the value of an exception without a type shows no half of a secret', async () => {
  const { title } = await report({ exception: { value: `${'paid by '.repeat(13)}4111 1111 1111 1111` } });
  expect(title).not.toMatch(/\d/);
});
