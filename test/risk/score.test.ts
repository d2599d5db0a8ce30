// What a score answers: counts and partners of each key in each window, this call included, and what rules and lists make of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RiskBench } from './harness.ts';

let bench: RiskBench;
beforeAll(async () => {
  bench = await RiskBench.start();
});
afterAll(() => bench.stop());

test('a call counts itself, and partners are distinct', async () => {
  const account = await bench.another();
  await account.score({ ip: '198.51.100.1', user_id: 'u1', device_id: 'd1' });
  await account.score({ ip: '198.51.100.1', user_id: 'u1', device_id: 'd2' });
  const { signals } = await account.score({ ip: '198.51.100.1', user_id: 'u2', device_id: 'd1' });
  expect(signals.ip).toMatchObject({ count_1m: 3, users_1m: 2, devices_24h: 2, emails_7d: 0, kind: 'documentation' });
  expect(signals.user).toMatchObject({ count_1h: 1, ips_1h: 1, devices_7d: 1 });
  expect(signals.device).toMatchObject({ count_1m: 2, users_1m: 2, ips_1m: 1 });
  expect(signals.email).toBeNull();
});

test('writings of one address, and of one mailbox, are one key', async () => {
  const account = await bench.another();
  const writings = [
    [{ ip: '::ffff:198.51.100.9' }, { ip: '198.51.100.9' }],
    [{ ip: '2001:db8:1:2::1' }, { ip: '2001:DB8:1:2:ffff::' }],
    [{ email: 'Joe+news@Example.org' }, { email: 'joe@example.org' }],
  ];
  for (const [first, second] of writings) {
    await account.score(first as object);
    const { signals } = await account.score(second as object);
    expect((signals.ip ?? signals.email).count_1m, JSON.stringify(second)).toBe(2);
  }
  await account.score({ user_id: 'U' });
  expect((await account.score({ user_id: 'u' })).signals.user.count_1m).toBe(1);
});

test.each(['joe', 'joe@', '@example.org', 'joe example.org'])('%s is refused as an e-mail address', async (email) => {
  const { status, body } = await bench.call('POST', '/v1/risk/score', { event: 'login', email });
  expect([status, body.error?.code, body.error?.param]).toEqual([400, 'VALIDATION_FAILED', 'email']);
});

test('windows end by steps: what was seen is gone after each of them', async () => {
  const account = await RiskBench.start();
  try {
    const counts = async () => {
      const { signals } = await account.score({ user_id: 'u', ip: '198.51.100.1' });
      return ['1m', '1h', '24h', '7d'].map((window) => signals.user[`count_${window}`]);
    };
    expect(await counts()).toEqual([1, 1, 1, 1]);
    await account.service.advance(61);
    expect(await counts()).toEqual([1, 2, 2, 2]);
    await account.service.advance(3_601);
    expect(await counts()).toEqual([1, 1, 3, 3]);
    await account.service.advance(86_401);
    expect(await counts()).toEqual([1, 1, 1, 4]);
    await account.service.advance(7 * 86_400 + 1);
    expect(await counts()).toEqual([1, 1, 1, 1]);
    expect((await account.subject({ user_id: 'u' })).counts).toMatchObject({ count_7d: 1, count_30d: 5 });
  } finally {
    await account.stop();
  }
});

test('points add up to a score from 0 to 100, and thresholds make the action', async () => {
  const account = await bench.another();
  const over = (name: string, points: number, count: number) => ({
    name,
    points,
    when: { '>=': [{ var: 'user.count_1m' }, count] },
  });
  await account.rules([over('one', 30, 1), over('two', 30, 2), over('three', 90, 3), over('less', -200 / 2, 4)]);
  const seen = [];
  for (let i = 0; i < 4; i += 1) seen.push(await account.score({ user_id: 'u' }));
  expect(seen.map(({ score, action }) => [score, action])).toEqual([
    [30, 'allow'],
    [60, 'review'],
    [100, 'block'],
    [50, 'review'],
  ]);
  expect(seen[1].reasons).toEqual([
    { rule: 'one', points: 30, detail: 'user.count_1m 2' },
    { rule: 'two', points: 30, detail: 'user.count_1m 2' },
  ]);
});

test('the default rules are shown, and judge a throw-away mailbox', async () => {
  const account = await bench.another();
  expect(await account.data('GET', 'rules/get')).toMatchObject({ is_default: true, revision: 0, updated_at: null });
  const { action, reasons, signals } = await account.score({ event: 'signup', email: 'a@sub.mailinator.com' });
  expect([action, reasons.map(({ rule }: { rule: string }) => rule)]).toEqual(['review', ['disposable_email']]);
  expect(signals.email).toMatchObject({ is_disposable: true, has_mx: null, count_1m: 1 });
});

const entries = [
  ['ip', '198.51.100.7', { ip: '198.51.100.7' }, { ip: '198.51.100.8' }],
  ['ip', '2001:DB8::7', { ip: '2001:db8::7' }, { ip: '2001:db8::8' }],
  ['cidr', '198.51.100.77/24', { ip: '198.51.100.200' }, { ip: '198.51.101.1' }],
  ['cidr', '2001:db8::/32', { ip: '2001:db8:ffff::1' }, { ip: '2001:db9::1' }],
  ['email', 'Joe@Example.org', { email: 'joe@example.org' }, { email: 'jo@example.org' }],
  ['domain', 'Example.ORG', { email: 'a@mail.example.org' }, { email: 'a@notexample.org' }],
  ['user', 'u-1', { user_id: 'u-1' }, { user_id: 'u-11' }],
  ['device', 'd-1', { device_id: 'd-1' }, { user_id: 'd-1' }],
] as const;

test.each(entries)('an entry of kind %s %s decides alone, until it is removed', async (kind, value, hit, miss) => {
  const account = await bench.another();
  await account.rules([]);
  await account.data('POST', 'list/add', { list: 'block', kind, value });
  expect(await account.score(hit)).toMatchObject({ action: 'block', score: 100, reasons: [{ rule: 'list:block' }] });
  expect(await account.score(miss)).toMatchObject({ action: 'allow', score: 0, reasons: [] });
  const { items } = await account.data('GET', 'list/entries');
  expect(items).toMatchObject([{ list: 'block', kind, expires_at: null }]);
  const remove = () => account.data('DELETE', `list/remove?${new URLSearchParams({ kind, value })}`);
  expect(await remove()).toMatchObject({ deleted: true, status: null });
  expect(await remove()).toMatchObject({ deleted: false, status: 'not_found' });
  expect(await account.score(hit)).toMatchObject({ action: 'allow' });
});

test('allow wins over block, a value stands on one list, and an expired entry counts no more', async () => {
  const account = await RiskBench.start();
  try {
    await account.data('POST', 'list/add', { list: 'block', kind: 'cidr', value: '198.51.100.0/24' });
    await account.data('POST', 'list/add', { list: 'allow', kind: 'user', value: 'u' });
    expect(await account.score({ ip: '198.51.100.1', user_id: 'u' })).toMatchObject({ action: 'allow', score: 0 });
    const { body } = await account.call('GET', '/v1/risk/decisions');
    const until = new Date(Date.parse(body.data.items[0].created_at) + 3_600_000).toISOString();
    await account.data('POST', 'list/add', { list: 'block', kind: 'user', value: 'u', expires_at: until });
    expect((await account.data('GET', 'list/entries?list=allow')).items).toEqual([]);
    expect(await account.score({ user_id: 'u' })).toMatchObject({ action: 'block' });
    await account.service.advance(3_601);
    expect(await account.score({ user_id: 'u' })).toMatchObject({ action: 'allow' });
  } finally {
    await account.stop();
  }
});

test('lists have networks of 16 prefix lengths, of which those that are gone do not count', async () => {
  const account = await bench.another();
  const add = (bits: number) =>
    account.call('POST', '/v1/risk/list/add', { list: 'block', kind: 'cidr', value: `198.51.100.0/${bits}` });
  for (let bits = 9; bits < 25; bits += 1) expect((await add(bits)).status).toBe(200);
  expect((await add(25)).body.error).toMatchObject({ code: 'QUOTA_EXCEEDED', param: 'value' });
  await account.data('DELETE', 'list/remove?kind=cidr&value=198.0.0.0/9');
  expect((await add(25)).status).toBe(200);
  expect((await add(24)).status).toBe(200);
  expect(await account.score({ ip: '198.51.100.1' })).toMatchObject({ action: 'block' });
});

test('a subject tells decisions, counts and what it is linked with, by its name or its hash', async () => {
  const account = await bench.another();
  const { risk_id: first } = await account.score({ ip: '198.51.100.1', user_id: 'u1', email: 'a@example.org' });
  const { risk_id: second } = await account.score({ ip: '198.51.100.2', user_id: 'u1' });
  const one = await account.subject({ user_id: 'u1' });
  expect(one).toMatchObject({ kind: 'user', counts: { count_30d: 2 } });
  expect(one.decisions.map(({ risk_id: id }: { risk_id: string }) => id)).toEqual([second, first]);
  const numbers = Object.entries<{ count: number; keys: string[] }>(one.linked).map(([name, of]) => [
    ...[name, of.count, of.keys.length],
  ]);
  expect(numbers).toEqual([
    ['ips', 2, 2],
    ['emails', 1, 1],
    ['users', 0, 0],
    ['devices', 0, 0],
  ]);
  expect(await account.subject({ key: one.key })).toEqual(one);
  const [mailbox] = one.linked.emails.keys;
  expect(await account.subject({ key: mailbox })).toEqual(await account.subject({ email: 'A@example.org' }));
  expect(JSON.stringify(one)).not.toMatch(/198\.51|example\.org|"u1"/);
  const other = await bench.another();
  expect(await other.subject({ key: one.key })).toMatchObject({ decisions: [], last_seen_at: null });
  await other.score({ user_id: 'u1' });
  expect((await other.subject({ user_id: 'u1' })).key).not.toBe(one.key);
});

test('no key is stored as it was sent', async () => {
  const account = await bench.another();
  await account.score({
    ip: '198.51.100.222',
    user_id: 'planted-user',
    email: 'planted@example.org',
    device_id: 'planted-device',
  });
  const { rows } = await account.service.core.db.query<{ text: string }>(
    {
      name: '',
      text: `SELECT concat((SELECT string_agg(w::text, '') FROM risk.window w),
                           (SELECT string_agg(d::text, '') FROM risk.decision d)) AS text`,
    },
    [],
  );
  const plain = rows[0]?.text ?? '';
  const hex = (text: string) => Buffer.from(text).toString('hex');
  expect(plain.length).toBeGreaterThan(500);
  for (const text of ['planted', '198.51.100.222'])
    for (const form of [text, hex(text)]) expect(plain).not.toContain(form);
});
