import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type House, openHouse } from './harness.ts';

let house: House;
let accountId: string;
let admin: string;

beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());
beforeEach(async () => {
  accountId = await house.makeAccount();
  admin = (await house.makeKey(accountId)).secret;
});

const call = (capability: string, input: object = {}, key?: string) =>
  house.call(admin, `account.${capability}`, input, key);
const isLive = async (secret: unknown) => typeof (await house.another().keys.find(secret as string)) === 'object';
const rejects = (promise: Promise<unknown>, code: string, param?: string) =>
  expect(promise).rejects.toMatchObject({ code, ...(param === undefined ? {} : { param }) });

describe('suspected compromise', () => {
  test('confirmed: revoked now, and replaced by a key like it under a new id', async () => {
    const made = await call('keys.create', { name: 'leaky', scopes: ['queue'] });
    const { key, replacement } = (await call('keys.suspected_compromise', {
      key_id: made.key_id,
      confirmed_leak: true,
    })) as Record<string, Record<string, unknown>>;
    expect(key).toMatchObject({ key_id: made.key_id, status: 'revoked', revoked_reason: 'confirmed_leak' });
    expect(key).not.toHaveProperty('key_secret');
    expect(replacement).toMatchObject({ name: 'leaky', scopes: ['queue'], status: 'active' });
    expect(replacement?.key_id).not.toBe(made.key_id);
    expect([await isLive(made.key_secret), await isLive(replacement?.key_secret)]).toEqual([false, true]);
  });

  test('confirmed without auto_rotate: revoked, nothing new', async () => {
    const target = await house.makeKey(accountId);
    expect(
      await call('keys.suspected_compromise', { key_id: target.keyId, confirmed_leak: true, auto_rotate: false }),
    ).toMatchObject({
      key: { status: 'revoked' },
      replacement: null,
    });
  });

  test('unconfirmed: rotated with an hour of grace', async () => {
    const target = await house.makeKey(accountId);
    const { key, replacement } = (await call('keys.suspected_compromise', { key_id: target.keyId })) as Record<
      string,
      Record<string, unknown>
    >;
    expect(replacement).toBeNull();
    expect(key).toMatchObject({ key_id: target.keyId, status: 'rotating' });
    expect([await isLive(target.secret), await isLive(key?.key_secret)]).toEqual([true, true]);
    await house.advance(3_601);
    expect(await isLive(target.secret)).toBe(false);
  });

  test('unconfirmed without auto_rotate: flagged only', async () => {
    const target = await house.makeKey(accountId);
    expect(await call('keys.suspected_compromise', { key_id: target.keyId, auto_rotate: false })).toMatchObject({
      key: { status: 'active', flagged_at: expect.any(String) },
      replacement: null,
    });
    expect(await isLive(target.secret)).toBe(true);
  });
});

describe('escalation', () => {
  test('a limited key can neither grant nor touch more than it has', async () => {
    const wide = await house.makeKey(accountId, { scopes: null });
    const narrow = await house.makeKey(accountId, { scopes: ['account', 'queue:read'] });
    const as = (capability: string, input: object, key?: string) =>
      house.call(narrow.secret, `account.${capability}`, input, key);
    for (const scopes of [null, ['*'], ['queue'], ['account', 'vector:read']]) {
      await rejects(as('keys.create', { scopes }), 'SCOPE_ESCALATION', 'scopes');
      await rejects(as('keys.update', { key_id: narrow.keyId, scopes }), 'SCOPE_ESCALATION', 'scopes');
    }
    await rejects(as('keys.update', { key_id: wide.keyId, name: 'x' }), 'SCOPE_ESCALATION');
    await rejects(as('keys.rotate', { key_id: wide.keyId }), 'SCOPE_ESCALATION');
    await rejects(as('keys.suspected_compromise', { key_id: wide.keyId }), 'SCOPE_ESCALATION');
    expect(await as('keys.create', { scopes: ['queue.stats'] })).toMatchObject({ scopes: ['queue.stats'] });
    expect(await as('keys.revoke', { key_id: wide.keyId })).toMatchObject({ status: 'revoked' });
  });

  test('a stored answer with a secret is not replayed to a key that may not have it', async () => {
    const wide = await house.makeKey(accountId);
    await call('keys.rotate', { key_id: wide.keyId, grace_hours: 1 }, 'shared-key');
    const narrow = await house.makeKey(accountId, { scopes: ['account'] });
    await rejects(
      house.call(narrow.secret, 'account.keys.rotate', { key_id: wide.keyId, grace_hours: 1 }, 'shared-key'),
      'SCOPE_ESCALATION',
    );
  });
});
