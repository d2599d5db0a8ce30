import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAccount, findAccount, setSuspended, setTier } from '../../src/core/accounts/accounts.ts';
import { LastUsed } from '../../src/core/keys/last-used.ts';
import { ensureOperator } from '../../src/core/operator/first-start.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret, rememberServerSecret } from '../../src/core/secrets/server-secret.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { type House, openHouse } from './harness.ts';

let house: House;
let dataDir: string;

beforeEach(async () => {
  house = await openHouse();
  dataDir = mkdtempSync(join(tmpdir(), 'quartermaster-keys-'));
});
afterEach(async () => {
  await house.close();
  rmSync(dataDir, { recursive: true });
});

const read = async (text: string, values: (string | number)[] = []) =>
  (
    await house.core.db.query<Record<string, unknown>>(
      { name: `t_${Buffer.from(text).toString('base64url').slice(-50)}`, text },
      values,
    )
  ).rows;
const inTransaction = <T>(work: Parameters<typeof house.core.db.transaction<T>>[0]) => house.core.db.transaction(work);

describe('accounts', () => {
  test('an account has a project, 2 USD for 90 days, and tells that it was created', async () => {
    const accountId = await house.makeAccount();
    expect(accountId).toMatch(/^acct_anon_[0-9A-Za-z]{20,}$/);
    expect(await findAccount(house.core.db, accountId)).toMatchObject({
      projectId: expect.stringMatching(/^proj_/),
      tier: 'standard',
    });
    const [grant] = await read(
      `SELECT kind, amount_nanos, round(extract(epoch FROM expires_at - created_at) / 86400) AS days FROM core.credit_grant WHERE account_id = $1`,
      [accountId],
    );
    expect(grant).toEqual({ kind: 'promo', amount_nanos: 2_000_000_000n, days: 90n });
    const [event] = await read('SELECT type, data FROM core.event_outbox WHERE account_id = $1', [accountId]);
    expect(event).toMatchObject({ type: 'account.created' });
    expect(JSON.parse(event?.data as string)).toMatchObject({ object: { account_id: accountId, email_bound: false } });
  });

  test('an e-mail identity starts without credit', async () => {
    const accountId = await inTransaction((tx) => createAccount(tx, { email: 'a@example.org' }));
    expect(accountId).toMatch(/^acct_email_[0-9A-Za-z]{20,}$/);
    expect(await findAccount(house.core.db, accountId)).toMatchObject({ emailBound: true, name: 'a@example.org' });
    expect(await read('SELECT balance_nanos FROM core.wallet WHERE account_id = $1', [accountId])).toEqual([
      { balance_nanos: 0n },
    ]);
  });

  test('a change of the tier is told once, raises the quota and shows in account.tier', async () => {
    const accountId = await house.makeAccount();
    const { secret } = await house.makeKey(accountId);
    await inTransaction((tx) => setTier(tx, accountId, 'pro'));
    await inTransaction((tx) => setTier(tx, accountId, 'pro'));
    const events = await read(`SELECT data FROM core.event_outbox WHERE account_id = $1 AND type = 'account.updated'`, [
      accountId,
    ]);
    expect(events.map(({ data }) => JSON.parse(data as string))).toMatchObject([
      { object: { tier: 'pro' }, previous: { tier: 'standard' } },
    ]);
    expect(await house.call(secret, 'account.tier')).toMatchObject({
      tier: 'pro',
      limits: { keys: 500, free_reads_burst: 4000 },
    });
  });

  test('a suspended account is seen by every process within a second', async () => {
    const accountId = await house.makeAccount();
    const { secret } = await house.makeKey(accountId);
    await inTransaction((tx) => setSuspended(tx, accountId, true));
    expect(await house.another().keys.find(secret)).toMatchObject({ suspended: true });
    await inTransaction((tx) => setSuspended(tx, accountId, false));
    expect(await house.another().keys.find(secret)).toMatchObject({ suspended: false });
  });
});

describe('last use', () => {
  test('is written to the minute, once a minute and key', async () => {
    const accountId = await house.makeAccount();
    const { secret, keyId } = await house.makeKey(accountId);
    const lastUsed = new LastUsed(house.core);
    await house.core.keys.find(secret);
    await lastUsed.flush();
    const [first] = await read('SELECT last_used_at AS at, xmin::text AS version FROM core.api_key WHERE key_id = $1', [
      keyId,
    ]);
    expect((first?.at as number) % 60_000).toBe(0);
    await house.another().keys.find(secret);
    house.core.keys.drop(keyId);
    await house.core.keys.find(secret);
    await lastUsed.flush();
    expect(
      await read('SELECT last_used_at AS at, xmin::text AS version FROM core.api_key WHERE key_id = $1', [keyId]),
    ).toEqual([first]);
    await house.advance(60);
    house.core.keys.drop(keyId);
    await house.core.keys.find(secret);
    await lastUsed.flush();
    expect(await read('SELECT last_used_at AS at FROM core.api_key WHERE key_id = $1', [keyId])).toEqual([
      { at: (first?.at as number) + 60_000 },
    ]);
  });
});

describe('server secret', () => {
  test('is made once, readable for its owner only, and the same for all who start at once', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => loadServerSecret({ dataDir })));
    expect(new Set(all).size).toBe(1);
    expect(all[0]).toMatch(/^[\w-]{43}$/);
    expect(statSync(join(dataDir, 'secrets.key')).mode & 0o777).toBe(0o600);
    expect(await loadServerSecret({ dataDir, secretsKey: 'given by the environment' })).toBe(
      'given by the environment',
    );
  });

  test('a process with another secret is refused', async () => {
    await rememberServerSecret(house.core.db, house.core.secrets);
    await rememberServerSecret(house.core.db, house.core.secrets);
    await expect(rememberServerSecret(house.core.db, new Secrets('a different server secret'))).rejects.toMatchObject({
      name: 'StartupError',
    });
  });
});

describe('operator', () => {
  test('of processes that start at once one makes the account, and its key works', async () => {
    const made = await Promise.all(Array.from({ length: 4 }, () => ensureOperator(house.core, dataDir)));
    const [operator, ...others] = made.filter((one) => one !== null);
    expect(others).toEqual([]);
    const file = join(dataDir, 'operator.key');
    expect(operator?.keyFile).toBe(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const key = await house.core.keys.find(readFileSync(file, 'utf8').trim());
    expect(key).toMatchObject({ accountId: operator?.accountId, scopes: null });
    expect(await ensureOperator(house.core, dataDir)).toBeNull();
  });

  test('a database that has accounts gets none', async () => {
    await house.makeAccount();
    expect(await ensureOperator(house.core, dataDir)).toBeNull();
  });

  test('without a place for the key nothing is made, and the next start tries again', async () => {
    const file = join(dataDir, 'a-file');
    writeFileSync(file, '');
    await expect(ensureOperator(house.core, join(file, 'below'))).rejects.toMatchObject({ name: 'StartupError' });
    expect(await read('SELECT count(*) AS accounts FROM core.account')).toEqual([{ accounts: 0n }]);
    expect(await ensureOperator(house.core, dataDir)).not.toBeNull();
  });
});

const CAP = "UPDATE core.api_key SET spend_cap_nanos = 5, spend_cap_period = 'total'";

describe('doctor', () => {
  const diagnose = async (...modules: string[]) =>
    (await examine({ db: house.core.db, secrets: house.core.secrets, modules: modules.map((name) => ({ name })) }))
      .findings;
  let accountId: string;
  let keyId: string;

  beforeEach(async () => {
    accountId = await house.makeAccount();
    ({ keyId } = await house.makeKey(accountId));
    await inTransaction((tx) =>
      grantCredit(tx, accountId, { kind: 'paid', amountNanos: 5n, expiresInMs: null, note: null }),
    );
    await rememberServerSecret(house.core.db, house.core.secrets);
  });

  test('finds nothing where everything adds up', async () => {
    expect(await diagnose('queue')).toEqual([]);
  });

  test.each([
    ['balance', 'UPDATE core.wallet SET balance_nanos = balance_nanos + 1 WHERE account_id = $1'],
    [
      'balance',
      "UPDATE core.credit_grant SET remaining_nanos = remaining_nanos - 1 WHERE account_id = $1 AND kind = 'promo'",
    ],
    ['balance', 'UPDATE core.credit_grant SET spent = true WHERE account_id = $1'],
    ['held', 'UPDATE core.wallet SET held_nanos = 1 WHERE account_id = $1'],
    ['held', "UPDATE core.credit_grant SET reserved_nanos = 1 WHERE account_id = $1 AND kind = 'paid'"],
    ['usage', `INSERT INTO core.usage_hour VALUES ($1, now(), 'queue.publish', 'key_x', 1, 0, 1, 20000)`],
    ['keys', 'DELETE FROM core.api_secret WHERE account_id = $1'],
    ['key_cap', `${CAP}, spend_used_nanos = 1 WHERE account_id = $1`],
    ['key_cap', `${CAP}, spend_held_nanos = 1 WHERE account_id = $1`],
    ['keys', 'UPDATE core.api_secret SET is_current = false, expires_at = NULL WHERE account_id = $1'],
    ['directory', 'DELETE FROM core.api_key WHERE account_id = $1'],
  ])('finds a fault of the %s', async (check, damage) => {
    await read(damage, [accountId]);
    expect((await diagnose()).map((finding) => finding.check)).toContain(check);
  });

  test('finds units that a module counted otherwise, and a foreign secret', async () => {
    await read(`INSERT INTO core.accepted_units VALUES ($1, 'queue.publish', 3)`, [accountId]);
    expect(await diagnose('queue')).toEqual([
      { accountId, check: 'units', message: expect.stringContaining('queue.publish: 0 units') },
    ]);
    const { findings } = await examine({ db: house.core.db, secrets: null, modules: [] });
    expect(findings).toMatchObject([{ accountId: null, check: 'secret' }]);
    expect(keyId).toMatch(/^key_/);
  });
});
