// An empty account goes over into another of the same person: nothing of money or keys is lost or doubled, whoever dies meanwhile.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { operatorAccount } from '../../src/core/accounts/operator.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { findKey } from '../../src/core/keys/store.ts';
import { expireGrants, grantCredit } from '../../src/core/wallet/grants.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { absorbAccount, absorptionSweep } from '../../src/people/absorbing/absorb.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { rounds } from '../support/soak.ts';

let it: TestService;
beforeAll(async () => {
  // own service: moves its clock
  it = await startTestService();
});
afterAll(() => it.stop());

const isEmpty = async () => true;
const USD = 1_000_000_000n;

function account(signUpCredit = false): Promise<string> {
  return it.core.db.transaction((tx) => createAccount(tx, { name: 'Ada', by: signUpCredit ? 'operator' : 'provider' }));
}

function grant(accountId: string, kind: 'paid' | 'promo', amountNanos: bigint, expiresInMs: number | null) {
  return it.core.db.transaction((tx) => grantCredit(tx, accountId, { kind, amountNanos, expiresInMs, note: null }));
}

const grantsOf = {
  name: 'test_absorb_grants',
  text: `SELECT kind, remaining_nanos AS left, expires_at, test_mode FROM core.credit_grant
          WHERE account_id = $1 AND NOT spent ORDER BY remaining_nanos`,
};
const moneyOf = {
  name: 'test_absorb_money',
  text: 'SELECT balance_nanos AS balance FROM core.wallet WHERE account_id = $1',
};

async function balance(accountId: string): Promise<bigint> {
  const { rows } = await it.core.db.query<{ balance: bigint }>(moneyOf, [accountId]);
  return rows[0]?.balance ?? -1n;
}

async function findings(...accounts: string[]) {
  const patient = { db: it.core.db, secrets: it.core.secrets, modules: [] };
  return (await Promise.all(accounts.map((accountId) => examineAccount(patient, accountId)))).flat();
}

async function whoAmI(secret: string): Promise<{ status: number; usd: number }> {
  const answer = await fetch(`${it.url}/v1/account/balance`, { headers: { authorization: `Bearer ${secret}` } });
  const { data } = (await answer.json()) as { data?: { balance_usd: number } };
  return { status: answer.status, usd: data?.balance_usd ?? -1 };
}

test('credit moves with its end, keys keep id, scopes and secret, and the other account is told', async () => {
  const other = await createTestAccount(it.core, 3, ['queue', 'account']);
  const into = await account(true);
  await grant(other.accountId, 'promo', USD, 5 * DAY_MS);
  const before = (await it.core.db.query(grantsOf, [other.accountId])).rows;
  expect(await whoAmI(other.secret)).toEqual({ status: 200, usd: 4 });
  const absorbed = await absorbAccount(it.core, { from: other.accountId, into }, isEmpty);
  expect(absorbed).toEqual({ creditNanos: 4n * USD, keyIds: [other.keyId] });
  expect(await whoAmI(other.secret)).toEqual({ status: 200, usd: 6 });
  expect((await it.core.db.query(grantsOf, [into])).rows).toEqual(expect.arrayContaining(before));
  expect(await balance(other.accountId)).toBe(0n);
  expect(await findKey(it.core.db, into, other.keyId)).toMatchObject({
    scopes: ['queue', 'account'],
    status: 'active',
  });
  expect(await findings(other.accountId, into)).toEqual([]);
  const told = await eventsOf(into, 'account.absorbed');
  expect(told).toMatchObject([{ account_id: other.accountId, credit_usd: 4, key_ids: [other.keyId] }]);
});

test('a second sign-up credit is void, the first of a person comes along', async () => {
  const [first, second, without] = [await account(true), await account(true), await account(false)];
  await absorbAccount(it.core, { from: second, into: first }, isEmpty);
  expect(await balance(first)).toBe(2n * USD);
  await absorbAccount(it.core, { from: first, into: without }, isEmpty);
  expect(await balance(without)).toBe(2n * USD);
  expect(await findings(first, second, without)).toEqual([]);
});

test('all of a key comes along; what its cap allowed in all goes on', async () => {
  const [from, into] = [await account(), await account()];
  const keyId = await it.core.db.transaction(async (tx) => {
    const fields = { name: 'agent', scopes: ['queue:read'], expiresAtMs: Date.now() + DAY_MS };
    const cap = { nanos: 5n * USD, period: 'total' as const };
    return (await createKey(tx, it.core.secrets, from, { ...fields, cap }, Date.now())).key.keyId;
  });
  await it.core.db.query(spend, [from, keyId, 2n * USD]);
  const before = await rowOf(from, keyId);
  await absorbAccount(it.core, { from, into }, isEmpty);
  const after = await rowOf(into, keyId);
  const changed = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
  const others = ['account_id', 'project_id', 'updated_at'];
  expect(changed.filter((name) => !others.includes(name)).sort()).toEqual(['spend_cap_nanos', 'spend_used_nanos']);
  expect(after).toMatchObject({ spend_cap_nanos: 3_000_000_000, spend_used_nanos: 0 });
  expect(await findings(into)).toEqual([]);
});

const spend = {
  name: 'test_absorb_spend',
  text: `UPDATE core.api_key SET spend_used_nanos = $3 WHERE account_id = $1 AND key_id = $2`,
};
const keyRow = {
  name: 'test_absorb_key',
  text: 'SELECT to_jsonb(k)::text AS row FROM core.api_key k WHERE k.account_id = $1 AND k.key_id = $2',
};

async function rowOf(accountId: string, keyId: string): Promise<Record<string, unknown>> {
  const { rows } = await it.core.db.query<{ row: string }>(keyRow, [accountId, keyId]);
  return JSON.parse(rows[0]?.row ?? '{}') as Record<string, unknown>;
}

const change = (name: string, text: string) => ({ name: `test_absorb_${name}`, text });

test.each([
  ['debt', 'UPDATE core.wallet SET debt_nanos = 1 WHERE account_id = $1'],
  ['a dispute', `UPDATE core.wallet SET frozen_reason = 'dispute' WHERE account_id = $1`],
  ['auto-recharge', 'UPDATE core.wallet SET recharge_trigger_nanos = 0 WHERE account_id = $1'],
  ['suspension', 'UPDATE core.wallet SET suspended = true WHERE account_id = $1'],
  [
    'a hold',
    `INSERT INTO core.hold (account_id, hold_id, capability, key_id, units, amount_nanos, grant_ids, grant_nanos, day_start, month_start, status, owner, created_at)
     VALUES ($1, 'hold_x', 'x.y', 'key_x', 1, 0, '{}', '{}', now(), now(), 'active', 'x', now())`,
  ],
])('an account with %s stays as it is', async (what, text) => {
  const other = await createTestAccount(it.core, 1);
  const into = await account();
  await it.core.db.query(change(what, text), [other.accountId]);
  const refused = absorbAccount(it.core, { from: other.accountId, into }, isEmpty);
  await expect(refused).rejects.toMatchObject({ code: 'STATE_CONFLICT', detail: 'account_not_empty' });
  expect([await balance(other.accountId), await balance(into)]).toEqual([USD, 0n]);
});

test('an account of which a module keeps something stays as it is', async () => {
  const other = await createTestAccount(it.core, 1);
  const refused = absorbAccount(it.core, { from: other.accountId, into: await account() }, async () => false);
  await expect(refused).rejects.toMatchObject({ detail: 'account_not_empty' });
  expect(await whoAmI(other.secret)).toEqual({ status: 200, usd: 1 });
});

test('the operator’s account goes over into none', async () => {
  const from = (await operatorAccount(it.core.db)) ?? '';
  const moving = absorbAccount(it.core, { from, into: await account() }, isEmpty);
  await expect(moving).rejects.toMatchObject({ code: 'STATE_CONFLICT', detail: 'account_not_empty' });
  expect(await balance(from)).toBe(2n * USD);
});

test('who dies between the two steps loses nothing, and nothing arrives twice', async () => {
  const other = await createTestAccount(it.core, 7);
  const into = await account();
  const script = join(import.meta.dirname, 'absorb-and-die.ts');
  const child = spawn(process.execPath, [script, it.database.url, other.accountId, into], { stdio: 'inherit' });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  expect([await balance(other.accountId), await balance(into)]).toEqual([0n, 0n]);
  expect((await whoAmI(other.secret)).status).toBe(401);
  await it.advance(60);
  const sweeps = [absorptionSweep(it.core), absorptionSweep(it.core)];
  await Promise.all(sweeps.map((sweep) => sweep.run(AbortSignal.timeout(10_000))));
  expect(await balance(into)).toBe(7n * USD);
  expect(await whoAmI(other.secret)).toEqual({ status: 200, usd: 7 });
  expect(await eventsOf(into, 'account.absorbed')).toHaveLength(1);
  expect(await findings(other.accountId, into)).toEqual([]);
});

test('whatever is granted, expires and goes over: no money appears or is lost', async () => {
  const one = fc.oneof(
    fc.record({
      kind: fc.constant('grant' as const),
      at: fc.nat(2),
      usd: fc.integer({ min: 1, max: 9 }),
      days: fc.nat(3),
    }),
    fc.record({ kind: fc.constant('absorb' as const), at: fc.nat(2), to: fc.nat(2) }),
    fc.record({ kind: fc.constant('day' as const) }),
  );
  const histories = fc.asyncProperty(fc.array(one, { minLength: 5, maxLength: 12 }), async (steps) => {
    const accounts = [await account(), await account(), await account()];
    const granted: { nanos: bigint; endMs: number | null }[] = [];
    for (const step of steps) {
      if (step.kind === 'grant') {
        const endsInMs = step.days === 0 ? null : step.days * DAY_MS;
        const nowMs = await clock();
        await grant(accounts[step.at] ?? '', endsInMs === null ? 'paid' : 'promo', BigInt(step.usd) * USD, endsInMs);
        granted.push({ nanos: BigInt(step.usd) * USD, endMs: endsInMs === null ? null : nowMs + endsInMs });
      } else if (step.kind === 'day') await it.advance(86_400 + 600);
      else if (step.at !== step.to) {
        const moving = { from: accounts[step.at] ?? '', into: accounts[step.to] ?? '' };
        await absorbAccount(it.core, moving, isEmpty).catch((error: { detail?: string }) => {
          expect(error.detail).toBe('account_not_empty');
        });
      }
    }
    for (const accountId of accounts) await it.core.db.transaction((tx) => expireGrants(tx, accountId));
    const nowMs = await clock();
    const alive = granted.filter(({ endMs }) => endMs === null || endMs > nowMs);
    const balances = await Promise.all(accounts.map(balance));
    expect(sum(balances)).toBe(sum(alive.map(({ nanos }) => nanos)));
    expect(await findings(...accounts)).toEqual([]);
  });
  await fc.assert(histories, { numRuns: rounds(60) * 5 });
});

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

async function clock(): Promise<number> {
  const { rows } = await it.core.db.query<{ now: number }>(change('clock', 'SELECT core.clock_now() AS now'), []);
  return rows[0]?.now ?? 0;
}

const outbox = {
  name: 'test_absorb_events',
  text: `SELECT data::text AS data FROM core.event_outbox WHERE account_id = $1 AND type = $2
         UNION ALL SELECT data::text FROM core.event WHERE account_id = $1 AND type = $2`,
};

async function eventsOf(accountId: string, type: string): Promise<unknown[]> {
  const { rows } = await it.core.db.query<{ data: string }>(outbox, [accountId, type]);
  return rows.map(({ data }) => (JSON.parse(data) as { object: unknown }).object);
}
