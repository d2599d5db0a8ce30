import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callOn, type House, openHouse } from './harness.ts';

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
const secretOf = (record: Record<string, unknown>) => record.key_secret as string;
const rejects = (promise: Promise<unknown>, code: string, param?: string) =>
  expect(promise).rejects.toMatchObject({ code, ...(param === undefined ? {} : { param }) });

describe('create', () => {
  test('answers the record of the contract, with a secret that works', async () => {
    const made = await call('keys.create', { name: 'ci', scopes: ['queue.publish'] });
    expect(made).toEqual({
      key_id: expect.stringMatching(/^key_[0-9A-Za-z]{20,}$/),
      project_id: expect.stringMatching(/^proj_/),
      name: 'ci',
      scopes: ['queue.publish'],
      status: 'active',
      prefix: secretOf(made).slice(0, 16),
      last4: secretOf(made).slice(-4),
      created_at: expect.stringMatching(/Z$/),
      updated_at: made.created_at,
      last_used_at: null,
      expires_at: null,
      rotating_until: null,
      revoked_at: null,
      revoked_reason: null,
      flagged_at: null,
      spend_cap_usd: null,
      spend_cap_period: null,
      spend_used_usd: null,
      spend_held_usd: null,
      spend_window_end: null,
      key_secret: expect.stringMatching(/^qm_live_\w{46}$/),
      secret: made.key_secret,
    });
    expect(await isLive(made.key_secret)).toBe(true);
  });

  test('the secret is not in the database, nor is it in any later answer', async () => {
    const made = await call('keys.create', {}, 'idem-1');
    const dump = await house.core.db.query<{ found: bigint }>(
      {
        name: 'find_secret',
        text: `SELECT count(*) AS found FROM (SELECT k::text AS t FROM core.api_key k UNION ALL SELECT s::text FROM core.api_secret s
               UNION ALL SELECT encode(i.answer, 'escape') FROM core.idempotency i) x WHERE position($1::text in t) > 0`,
      },
      [secretOf(made)],
    );
    expect(dump.rows[0]?.found).toBe(0n);
    expect(JSON.stringify(await call('keys.list'))).not.toContain('key_secret');
  });

  test('a repetition with the same idempotency key answers the same key and secret, for 30 days', async () => {
    const made = await call('keys.create', { name: 'once' }, 'idem-2');
    expect(await call('keys.create', { name: 'once' }, 'idem-2')).toEqual(made);
    await rejects(call('keys.create', { name: 'other' }, 'idem-2'), 'IDEMPOTENCY_KEY_REUSED');
    expect(((await call('keys.list')).items as unknown[]).length).toBe(2);
  });

  test('concurrent repetitions make one key', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => call('keys.create', {}, 'idem-3')));
    expect(new Set(all.map((made) => made.key_id)).size).toBe(1);
  });

  test('an unknown scope is refused by its place, a foreign project is not found', async () => {
    await rejects(call('keys.create', { scopes: ['queue', 'nope'] }), 'INVALID_SCOPE', 'scopes[1]');
    await rejects(call('keys.create', { project_id: 'proj_someone_else' }), 'NOT_FOUND', 'project_id');
  });

  test('a key with an expiry dies at it, and no expiry lies in the past', async () => {
    await rejects(call('keys.create', { expires_at: '2001-01-01T00:00:00Z' }), 'VALIDATION_FAILED', 'expires_at');
    await rejects(call('keys.create', { expires_at: '2999-02-30T00:00:00Z' }), 'VALIDATION_FAILED', 'expires_at');
    const { rows } = await house.core.db.query<{ now: number }>(
      { name: 'now', text: 'SELECT core.clock_now() AS now' },
      [],
    );
    const expiresAt = new Date((rows[0]?.now ?? 0) + 3_600_000).toISOString();
    const made = await call('keys.create', { expires_at: expiresAt });
    expect(made.expires_at).toBe(expiresAt);
    expect(await isLive(made.key_secret)).toBe(true);
    await house.advance(3_601);
    expect(await isLive(made.key_secret)).toBe(false);
    const items = (await call('keys.list')).items as Record<string, unknown>[];
    expect(items.find((item) => item.key_id === made.key_id)).toMatchObject({ status: 'expired' });
    await rejects(call('keys.rotate', { key_id: made.key_id }), 'KEY_NOT_ROTATABLE');
  });
});

describe('quota', () => {
  test('calls that race for the last places cannot exceed it; revoked keys free a place', async () => {
    const first = await house.makeKey(accountId);
    for (let i = 0; i < 95; i += 1) await house.makeKey(accountId);
    const race = await Promise.allSettled(Array.from({ length: 8 }, () => call('keys.create')));
    expect(race.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const lost of race)
      if (lost.status === 'rejected') expect(lost.reason).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await call('keys.revoke', { key_id: first.keyId });
    await call('keys.create');
    await rejects(call('keys.create'), 'QUOTA_EXCEEDED');
  });
});

describe('list', () => {
  test('answers everything at once, or page by page without a gap', async () => {
    for (let i = 0; i < 5; i += 1) await call('keys.create', { name: `k${i}` });
    const whole = await call('keys.list');
    expect(whole).toMatchObject({ next_cursor: null, has_more: false });
    const seen: unknown[] = [];
    let page = await call('keys.list', { limit: 4 });
    seen.push(...(page.items as unknown[]));
    expect(page.has_more).toBe(true);
    page = await call('keys.list', { cursor: page.next_cursor });
    seen.push(...(page.items as unknown[]));
    expect(page).toMatchObject({ next_cursor: null, has_more: false });
    expect(seen).toEqual(whole.items);
  });

  test('a cursor of another account is refused', async () => {
    await call('keys.create');
    const { next_cursor } = await call('keys.list', { limit: 1 });
    const other = await house.makeKey(await house.makeAccount());
    await rejects(house.call(other.secret, 'account.keys.list', { cursor: next_cursor }), 'INVALID_CURSOR', 'cursor');
  });
});

describe('revoke', () => {
  test('refuses the key at once, even where it is cached, and answers the same record again', async () => {
    const target = await house.makeKey(accountId);
    expect(await house.core.keys.find(target.secret)).toMatchObject({ id: target.keyId });
    const revoked = await call('keys.revoke', { key_id: target.keyId });
    expect(revoked).toMatchObject({
      key_id: target.keyId,
      status: 'revoked',
      revoked_reason: 'requested',
      revoked_at: expect.any(String),
    });
    expect(await house.core.keys.find(target.secret)).toBe('revoked');
    expect(await call('keys.revoke', { key_id: target.keyId })).toEqual(revoked);
  });

  test('answers only after a second process can no longer know the key', async () => {
    const other = house.another();
    await other.processes.beat();
    const target = await house.makeKey(accountId);
    expect(await other.keys.find(target.secret)).toMatchObject({ id: target.keyId });
    await call('keys.revoke', { key_id: target.keyId });
    expect(await other.keys.find(target.secret)).toBe('revoked');
    await other.processes.leave();
  });

  test('a foreign key, a random id and garbage get the same answer', async () => {
    const foreign = await house.makeKey(await house.makeAccount());
    for (const id of [foreign.keyId, 'key_0000000000000000000000', 'x', 'key_\u0000']) {
      await rejects(call('keys.revoke', { key_id: id }), 'KEY_NOT_FOUND', 'key_id');
      await rejects(call('keys.rotate', { key_id: id }), 'KEY_NOT_FOUND', 'key_id');
      await rejects(call('keys.update', { key_id: id, name: 'x' }), 'KEY_NOT_FOUND', 'key_id');
      await rejects(call('keys.suspected_compromise', { key_id: id }), 'KEY_NOT_FOUND', 'key_id');
    }
    expect(await isLive(foreign.secret)).toBe(true);
  });

  test('a call of a key that was revoked meanwhile changes nothing', async () => {
    const thief = await house.makeKey(accountId);
    const cached = house.another();
    expect(await cached.keys.find(thief.secret)).toMatchObject({ id: thief.keyId });
    await call('keys.revoke', { key_id: thief.keyId });
    await rejects(callOn(cached, thief.secret, 'account.keys.create', {}), 'INVALID_API_KEY');
  });
});

describe('rotate', () => {
  test('the old secret lives for its grace, the status follows the clock', async () => {
    const target = await house.makeKey(accountId);
    const rotated = await call('keys.rotate', { key_id: target.keyId, grace_hours: 2 });
    expect(rotated).toMatchObject({ key_id: target.keyId, status: 'rotating', last4: secretOf(rotated).slice(-4) });
    expect([await isLive(target.secret), await isLive(rotated.key_secret)]).toEqual([true, true]);
    await house.advance(2 * 3_600 + 1);
    expect([await isLive(target.secret), await isLive(rotated.key_secret)]).toEqual([false, true]);
    const items = (await call('keys.list')).items as Record<string, unknown>[];
    expect(items.find((item) => item.key_id === target.keyId)).toMatchObject({
      status: 'active',
      rotating_until: null,
    });
  });

  test('grace 0 ends the old secret before the answer', async () => {
    const target = await house.makeKey(accountId);
    expect(await house.core.keys.find(target.secret)).toMatchObject({ id: target.keyId });
    const rotated = await call('keys.rotate', { key_id: target.keyId, grace_hours: 0 });
    expect(rotated).toMatchObject({ status: 'active', rotating_until: null });
    expect(await house.core.keys.find(target.secret)).toBe('expired');
    expect(await isLive(rotated.key_secret)).toBe(true);
  });

  test('at most two earlier secrets are alive; grace 0 ends them all at once', async () => {
    const target = await house.makeKey(accountId);
    const first = await call('keys.rotate', { key_id: target.keyId, grace_hours: 24 });
    const second = await call('keys.rotate', { key_id: target.keyId, grace_hours: 48 });
    await rejects(call('keys.rotate', { key_id: target.keyId, grace_hours: 1 }), 'KEY_ROTATION_LIMIT');
    const last = await call('keys.rotate', { key_id: target.keyId, grace_hours: 0 });
    expect(last).toMatchObject({ status: 'active', rotating_until: null });
    for (const dead of [target.secret, secretOf(first), secretOf(second)])
      expect(await house.another().keys.find(dead)).toBe('expired');
    expect(await isLive(last.key_secret)).toBe(true);
    await call('keys.rotate', { key_id: target.keyId, grace_hours: 1 });
  });

  test('concurrent rotations leave exactly one current secret and at most two earlier ones', async () => {
    const target = await house.makeKey(accountId);
    const all = await Promise.allSettled(
      Array.from({ length: 6 }, () => call('keys.rotate', { key_id: target.keyId, grace_hours: 1 })),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    const live = await Promise.all(
      all.map((one) => (one.status === 'fulfilled' ? isLive(one.value.key_secret) : false)),
    );
    expect(live.filter(Boolean)).toHaveLength(2);
  });

  test('a repetition answers the same secret', async () => {
    const target = await house.makeKey(accountId);
    const rotated = await call('keys.rotate', { key_id: target.keyId, grace_hours: 1 }, 'rotate-1');
    expect(await call('keys.rotate', { key_id: target.keyId, grace_hours: 1 }, 'rotate-1')).toEqual(rotated);
  });

  test('a revoked key cannot be rotated or updated', async () => {
    const target = await house.makeKey(accountId);
    await call('keys.revoke', { key_id: target.keyId });
    await rejects(call('keys.rotate', { key_id: target.keyId }), 'KEY_NOT_ROTATABLE');
    await rejects(call('keys.update', { key_id: target.keyId, name: 'x' }), 'STATE_CONFLICT');
  });
});

describe('update', () => {
  test('absent stays, null clears', async () => {
    const made = await call('keys.create', { name: 'a', scopes: ['queue'] });
    expect(await call('keys.update', { key_id: made.key_id, name: 'b' })).toMatchObject({
      name: 'b',
      scopes: ['queue'],
    });
    expect(await call('keys.update', { key_id: made.key_id, name: null })).toMatchObject({
      name: null,
      scopes: ['queue'],
    });
    expect(await call('keys.update', { key_id: made.key_id, scopes: [] })).toMatchObject({ name: null, scopes: null });
  });

  test('narrowing is effective when it is answered', async () => {
    const made = await call('keys.create', { scopes: ['account'] });
    await house.core.keys.find(secretOf(made));
    await call('keys.update', { key_id: made.key_id, scopes: ['account:read'] });
    expect(await house.core.keys.find(secretOf(made))).toMatchObject({ scopes: ['account:read'] });
    await rejects(house.call(secretOf(made), 'account.keys.create'), 'INSUFFICIENT_SCOPE');
  });
});
