// Looking keys up: what a read of the database is spent on, and what the process remembers.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mintSecret } from '../../src/core/keys/api-key.ts';
import { KeyRing, type KeyRingOptions } from '../../src/core/keys/ring.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { FailedLogins } from '../../src/gateway/limits/failed-logins.ts';
import { type House, openHouse } from './harness.ts';

let house: House;
let accountId: string;

beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());
beforeEach(async () => {
  accountId = await house.makeAccount();
});

/** A ring of its own that counts its reads; `beforeAnswer` runs when a read has been made and is not answered yet. */
function countingRing(bounds: Partial<KeyRingOptions> = {}, beforeAnswer?: (ring: KeyRing) => Promise<void>) {
  const { db, secrets } = house.core;
  let reads = 0;
  const query = async (...args: Parameters<typeof db.hot.query>) => {
    reads += 1;
    const answer = await db.hot.query(...args);
    await beforeAnswer?.(ring);
    return answer;
  };
  const counting = { hot: { query } } as unknown as typeof db;
  const ring: KeyRing = new KeyRing({ db: counting, secrets, ...bounds });
  return { ring, reads: () => reads };
}
const unknownSecret = () => mintSecret(house.core.secrets).secret;

test('what another server secret minted costs no read, however often it is tried', async () => {
  const { ring, reads } = countingRing();
  const foreign = new Secrets('the server secret of another deployment');
  for (let i = 0; i < 1_000; i += 1) expect(await ring.find(mintSecret(foreign).secret)).toBe('unknown');
  expect(reads()).toBe(0);
});

test('secrets that let nobody in never push a live key out of the memory', async () => {
  const { ring, reads } = countingRing({ keysMax: 2, deadMax: 2 });
  const { secret, keyId } = await house.makeKey(accountId);
  expect(await ring.find(secret)).toMatchObject({ id: keyId });
  for (let i = 0; i < 10; i += 1) expect(await ring.find(unknownSecret())).toBe('unknown');
  const before = reads();
  expect(await ring.find(secret)).toMatchObject({ id: keyId });
  expect(reads()).toBe(before);
});

test('a dead secret costs one look-up (of its account, then of its key), however often it is tried', async () => {
  const { ring, reads } = countingRing();
  const { secret, keyId } = await house.makeKey(accountId);
  const admin = await house.makeKey(accountId);
  await house.call(admin.secret, 'account.keys.revoke', { key_id: keyId });
  const found = await Promise.all(Array.from({ length: 50 }, () => ring.find(secret)));
  for (let i = 0; i < 50; i += 1) found.push(await ring.find(secret));
  expect([new Set(found), reads()]).toEqual([new Set(['revoked']), 2]);
});

test('a key that is dropped while it is looked up is looked up again', async () => {
  const { secret, keyId } = await house.makeKey(accountId);
  const admin = await house.makeKey(accountId);
  const { ring, reads } = countingRing({}, async (own) => {
    if (reads() !== 2) return;
    await house.call(admin.secret, 'account.keys.revoke', { key_id: keyId });
    own.drop(keyId);
  });
  expect([await ring.find(secret), reads()]).toEqual(['revoked', 4]);
});

test('failing addresses beyond the bound push out the oldest one only', () => {
  const logins = new FailedLogins();
  const fail = (address: string, times: number) => {
    let waitMs = 0;
    for (let i = 0; i < times; i += 1) waitMs = logins.fail(address, 0);
    return waitMs;
  };
  fail('192.0.2.1', 21);
  expect(fail('192.0.2.2', 21)).toBeGreaterThan(0);
  for (let i = 0; i < 9_999; i += 1) logins.fail(`10.0.${i >> 8}.${i & 255}`, 0);
  expect(fail('192.0.2.2', 1)).toBeGreaterThan(0);
  expect(fail('192.0.2.1', 1)).toBe(0);
});
