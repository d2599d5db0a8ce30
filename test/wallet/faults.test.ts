// Connections that fail around COMMIT: the caller is told what happened, and it happened once.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { chargeInLane } from '../../src/core/wallet/charge/charge.ts';
import { lockWallets } from '../../src/core/wallet/lane/statements.ts';
import { textArray } from '../../src/db/arrays.ts';
import { statement } from '../../src/db/statement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { lockWaiters } from '../support/lock-waits.ts';
import {
  type Account,
  booksOf,
  call,
  codeOf,
  contextOf,
  idempotencyKey,
  openAccount,
  openShop,
  rowEffect,
  rowsOf,
  type Shop,
} from './harness.ts';
import { type LossyProxy, openLossyProxy } from './lossy-proxy.ts';

const killOthers = statement(
  'test_kill_others',
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
);

const killOnWorkers = statement(
  'test_kill_on_workers',
  `SELECT run_command_on_workers($node$ SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() $node$)`,
);
const insertForeign = statement(
  'test_insert_foreign_entry',
  `INSERT INTO core.ledger (account_id, entry_seq, batch_id, kind, units, amount_nanos, balance_after_nanos, created_at)
   VALUES ($1, $2, $2, 'release', 0, 0, 1000000, core.clock_now())`,
);

let database: TestDatabase;
let proxy: LossyProxy;
let direct: Shop;
let shop: Shop;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await openLossyProxy(database.connection);
  direct = await openShop(database.connection);
  shop = await openShop(proxy.connection);
});
afterAll(async () => {
  await shop.end();
  await direct.end();
  await proxy.close();
  await database.drop();
});

async function expectCharged(account: Account, calls: number): Promise<void> {
  const charged = BigInt(calls) * 20_000n;
  expect(await rowsOf(direct.db, account.accountId)).toBe(calls);
  expect(await booksOf(direct.db, account.accountId)).toMatchObject({
    balance: 1_000_000n - charged,
    grants: 1_000_000n - charged,
    ledger: 1_000_000n - charged,
    held: 0n,
    reserved: 0n,
    charged,
    requests: BigInt(calls),
  });
}

describe.each(['answer', 'request'] as const)('when the %s of a COMMIT is lost', (what) => {
  test('the calls of a lane have one effect and one charge each', async () => {
    const account = await openAccount(direct.db, 1_000_000n);
    const effect = rowEffect();
    await shop.lanes.submit(call(account, { effect }));
    const before = proxy.lost();
    proxy.loseNext(what);
    const settled = await Promise.all([1, 2, 3].map(() => shop.lanes.submit(call(account, { effect }))));
    expect(proxy.lost()).toBe(before + 1);
    expect(settled.map(codeOf)).toEqual(['done', 'done', 'done']);
    await expectCharged(account, 4);
  });

  test('a call with an idempotency key is charged once and answered as at first', async () => {
    const account = await openAccount(direct.db, 1_000_000n);
    const item = call(account, { effect: rowEffect(), idempotency: idempotencyKey('lost') });
    proxy.loseNext(what);
    const first = await shop.lanes.submit(item);
    const again = await direct.lanes.submit(item);
    expect([first.kind, again.kind]).toEqual(['done', 'replayed']);
    expect((again as { text: string }).text).toBe((first as { text: string }).text);
    await expectCharged(account, 1);
  });

  test('a large effect is written and charged once', async () => {
    const account = await openAccount(direct.db, 1_000_000n);
    const effect = rowEffect({
      read: (reading) => {
        // The hold is committed by the first reading; the effect's own transaction begins with the second.
        if (reading === 2) proxy.loseNext(what);
        return { kind: 'go', context: null };
      },
    });
    const before = proxy.lost();
    const charge = {
      units: 5n,
      effect,
      input: '1',
      sequences: 1,
      bytes: 10,
      rows: 500,
    } as const;
    const answer = await chargeInLane(contextOf(shop, account, idempotencyKey('large')), charge);
    expect(proxy.lost()).toBe(before + 1);
    expect(answer).toMatchObject({ costNanos: 100_000n, replayed: false });
    expect(await rowsOf(direct.db, account.accountId)).toBe(1);
    expect(await booksOf(direct.db, account.accountId)).toMatchObject({
      charged: 100_000n,
      balance: 900_000n,
      held: 0n,
      reserved: 0n,
    });
    const again = await chargeInLane(contextOf(direct, account, idempotencyKey('large')), charge);
    expect(again).toMatchObject({ costNanos: 0n, replayed: true, data: { text: answer.data.text } });
  });
});

// Where tables are distributed, commits go past the proxy to the worker that has the account.
const behindProxy = test.runIf(inject('cluster') === null);
behindProxy('an entry of another process under the number of a lost commit is not taken for its own', async () => {
  const account = await openAccount(direct.db, 1_000_000n);
  const rows = rowEffect();
  const numbers: bigint[] = [];
  let foreign: Promise<unknown> | undefined;
  /** Gets the wallet when the lost transaction ends, before anyone asks: as after a fail-over to a server whose clock is behind. */
  const takeNumber = () =>
    direct.db.transaction(async (tx) => {
      await tx.query(lockWallets, [textArray([account.accountId])]);
      await tx.query(insertForeign, [account.accountId, numbers[0] as bigint]);
    });
  const effect: typeof rows = {
    ...rows,
    async read(tx, items) {
      const verdicts = await rows.read(tx, items);
      if (foreign !== undefined) return verdicts;
      // Its answer says that the wallet is locked.
      await clockNow(tx);
      proxy.loseNext('request');
      foreign = takeNumber();
      await vi.waitFor(async () => expect(await lockWaiters(direct.db)).toBe(1), 50_000);
      return verdicts;
    },
    write(tx, items, nowMs) {
      // The ledger entry of a single call stands before its effect.
      numbers.push(...items.map(({ firstSeq }) => firstSeq - 1n));
      return rows.write(tx, items, nowMs);
    },
  };
  expect(codeOf(await shop.lanes.submit(call(account, { effect })))).toBe('done');
  await foreign;
  expect(numbers).toHaveLength(2);
  await expectCharged(account, 1);
});

// Triggers cannot be where tables are distributed: there the workers themselves are killed, below.
test.runIf(inject('cluster') === null)(
  'an internal error at COMMIT is an unknown outcome, which is looked up',
  async () => {
    const run = (text: string) => direct.db.query({ name: '', text }, []);
    await run('CREATE SEQUENCE core.test_commits');
    await run(`CREATE FUNCTION core.test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF nextval('core.test_commits') = 1 THEN RAISE 'a worker is gone' USING ERRCODE = 'XX000'; END IF; RETURN NULL; END $$`);
    const account = await openAccount(direct.db, 1_000_000n);
    await run(`CREATE CONSTRAINT TRIGGER test_refuse AFTER INSERT ON core.ledger DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION core.test_refuse()`);
    try {
      expect(codeOf(await direct.lanes.submit(call(account, { effect: rowEffect() })))).toBe('done');
    } finally {
      await run('DROP TRIGGER test_refuse ON core.ledger');
    }
    const commits = await direct.db.query({ name: '', text: 'SELECT last_value AS tried FROM core.test_commits' }, []);
    expect(commits.rows).toEqual([{ tried: 2n }]);
    await expectCharged(account, 1);
  },
);

test.runIf(inject('cluster') !== null)(
  'workers that lose their sessions under load cost no call its effect and no wallet a charge too many',
  async () => {
    const account = await openAccount(direct.db, 1_000_000n);
    const effect = rowEffect();
    const settled: Promise<string>[] = [];
    for (let round = 0; round < 8; round += 1) {
      for (let n = 0; n < 5; n += 1) {
        settled.push(direct.lanes.submit(call(account, { effect })).then(codeOf));
        await sleep(round);
      }
      await direct.db.query(killOnWorkers, []);
    }
    expect(await Promise.all(settled)).toEqual(Array(40).fill('done'));
    // Sessions that were idle at the last kill have yet to find out, in whatever they are asked next.
    await direct.end();
    direct = await openShop(database.connection);
    await expectCharged(account, 40);
  },
);

test('backends that are killed under load cost no call its effect and no wallet a charge too many', async () => {
  const account = await openAccount(direct.db, 1_000_000n);
  const effect = rowEffect();
  const other = await openShop(database.connection);
  const settled = [];
  for (let round = 0; round < 8; round += 1) {
    const calls = Array.from({ length: 5 }, () => other.lanes.submit(call(account, { effect })));
    if (round % 2 === 1) await direct.db.query(killOthers, []);
    settled.push(...(await Promise.all(calls)));
  }
  await other.end();
  expect(settled.map(codeOf)).toEqual(Array(40).fill('done'));
  await expectCharged(account, 40);
});
