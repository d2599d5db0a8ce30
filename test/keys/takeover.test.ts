// What a key cannot become: no secret, no expiry and no stored answer lets it outgrow itself.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callOn, type House, openHouse } from './harness.ts';

let house: House;
let accountId: string;
let admin: { keyId: string; secret: string };

beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());
beforeEach(async () => {
  accountId = await house.makeAccount();
  admin = await house.makeKey(accountId);
});

const call = (capability: string, input: object = {}, key?: string) =>
  house.call(admin.secret, `account.${capability}`, input, key);
const rejects = (promise: Promise<unknown>, code: string, more: object = {}) =>
  expect(promise).rejects.toMatchObject({ code, ...more });
const nowMs = async () =>
  (await house.core.db.query<{ now: number }>({ name: 'now', text: 'SELECT core.clock_now() AS now' }, [])).rows[0]
    ?.now ?? 0;

describe('a secret that was replaced while a process still knows it as current', () => {
  test('changes no key, and gets no stored answer that holds the new secret', async () => {
    const elsewhere = house.another();
    expect(await elsewhere.keys.find(admin.secret)).toMatchObject({ isCurrent: true });
    const input = { key_id: admin.keyId, grace_hours: 1 };
    const { key_secret: current } = await call('keys.rotate', input, 'rotate-1');
    const refused = { detail: 'secret_in_grace' };
    for (const key of ['rotate-1', undefined])
      await rejects(callOn(elsewhere, admin.secret, 'account.keys.rotate', input, key), 'INSUFFICIENT_SCOPE', refused);
    await rejects(callOn(elsewhere, admin.secret, 'account.keys.create', {}), 'INSUFFICIENT_SCOPE', refused);
    expect(await house.another().keys.find(current as string)).toMatchObject({ isCurrent: true });
  });
});

describe('a key that expires', () => {
  test('makes none that outlives it', async () => {
    const end = (await nowMs()) + 3_600_000;
    const brief = await house.makeKey(accountId, { expiresAtMs: end });
    const create = (expires_at?: string | null) =>
      house.call(brief.secret, 'account.keys.create', expires_at === undefined ? {} : { expires_at });
    const refused = { param: 'expires_at', httpStatus: 400 };
    await rejects(create(), 'EXPIRY_TOO_LATE', refused);
    await rejects(create(null), 'EXPIRY_TOO_LATE', refused);
    await rejects(create(new Date(end + 1).toISOString()), 'EXPIRY_TOO_LATE', refused);
    expect(await create(new Date(end).toISOString())).toMatchObject({ expires_at: new Date(end).toISOString() });
  });

  test('gets no secret of one that outlives it, and may rotate itself', async () => {
    const brief = await house.makeKey(accountId, { expiresAtMs: (await nowMs()) + 3_600_000 });
    const as = (capability: string, input: object) => house.call(brief.secret, `account.${capability}`, input);
    const { keyId: id } = await house.makeKey(accountId);
    await rejects(as('keys.rotate', { key_id: id }), 'EXPIRY_TOO_LATE', { param: 'key_id' });
    await rejects(as('keys.suspected_compromise', { key_id: id }), 'EXPIRY_TOO_LATE', { param: 'key_id' });
    await rejects(as('keys.suspected_compromise', { key_id: id, confirmed_leak: true }), 'EXPIRY_TOO_LATE', {
      param: 'key_id',
    });
    expect(await as('keys.suspected_compromise', { key_id: id, auto_rotate: false })).toMatchObject({
      replacement: null,
    });
    expect(await as('keys.rotate', { key_id: brief.keyId, grace_hours: 0 })).toMatchObject({ key_id: brief.keyId });
  });
});

describe('a stored answer that holds a secret', () => {
  test.each([
    ['keys.create', { name: 'once' }],
    ['webhooks.register', { url: 'https://example.org/hook', events: ['queue.dlq'] }],
  ])('of %s is replayed to the key that got it and to no other', async (capability, input) => {
    const other = await house.makeKey(accountId);
    const first = await call(capability, input, 'k-1');
    await rejects(house.call(other.secret, `account.${capability}`, input, 'k-1'), 'IDEMPOTENCY_CONFLICT', {
      param: 'idempotency_key',
      httpStatus: 409,
    });
    expect(await call(capability, input, 'k-1')).toEqual(first);
  });

  test('is not replayed to a narrower key after the key in it was widened', async () => {
    const narrow = await house.makeKey(accountId, { scopes: ['account', 'queue:read'] });
    const input = { scopes: ['queue:read'] };
    const made = await call('keys.create', input, 'k-2');
    await call('keys.update', { key_id: made.key_id, scopes: null });
    await rejects(house.call(narrow.secret, 'account.keys.create', input, 'k-2'), 'IDEMPOTENCY_CONFLICT');
  });

  test('without a secret is replayed to every key that may make the call', async () => {
    const other = await house.makeKey(accountId);
    const target = await house.makeKey(accountId);
    const update = { key_id: target.keyId, name: 'renamed' };
    const first = await call('keys.update', update, 'k-3');
    expect(await house.call(other.secret, 'account.keys.update', update, 'k-3')).toEqual(first);
  });
});
