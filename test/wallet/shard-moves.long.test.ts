// On a distributed engine the operator moves shards between nodes while calls run. Plain PostgreSQL has no shards: there is nothing to move.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { lockFreeWallets } from '../../src/core/wallet/lane/statements.ts';
import { type OpenWallet, openWallet, saveWallet } from '../../src/core/wallet/open-wallet.ts';
import { textArray } from '../../src/db/arrays.ts';
import { withClient } from '../../src/db/client.ts';
import type { Transaction } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Account, booksOf, call, openAccount, openShop, type Shop } from './harness.ts';

const MOVES = 20;
const ACCOUNTS = 4;
const CREDIT_NANOS = 1_000_000_000_000n;
const PRICE_NANOS = 20_000n;
const GRANT_NANOS = 1_000n;
/** How long a transaction works between its lock and its write: long enough for a move to end meanwhile. */
const HELD_MS = 200;
const PAUSE_MS = 20;

const lockName = statement('test_shard_lock', 'SELECT name FROM core.account WHERE account_id = $1 FOR UPDATE');
const shareName = statement('test_shard_share', 'SELECT name FROM core.account WHERE account_id = $1 FOR SHARE');
const rename = statement('test_shard_rename', 'UPDATE core.account SET name = $2 WHERE account_id = $1');
const findMove = `SELECT p.shardid, p.nodename, p.nodeport, n.node_name, n.node_port
  FROM pg_dist_shard_placement p, citus_get_active_worker_nodes() n
 WHERE p.shardid = get_shard_id_for_distribution_column('core.wallet', $1::text)
   AND (n.node_name, n.node_port) <> (p.nodename, p.nodeport)
 ORDER BY n.node_name, n.node_port LIMIT 1`;

// From its slot on a move follows what is written; until then it waits for every transaction.
const countCopying = `SELECT sum(result::int) AS number FROM run_command_on_workers($node$
  SELECT count(*) FROM pg_replication_slots WHERE database = current_database() AND confirmed_flush_lsn IS NOT NULL$node$)`;
/** Sessions that wait for a shard, whose lock is an advisory one. */
const countWaiting = `SELECT count(*) AS number FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;

/** What the database has acknowledged. */
interface Done {
  calls: bigint;
  grants: bigint;
  renames: number;
}

/** One thing that a process does over and over for an account: at its node, or by the coordinator where no account is told. */
type Work = (shop: Shop, account: Account, done: Done) => Promise<void>;

const charge: Work = async ({ lanes }, account, done) => {
  const { kind } = await lanes.submit(call(account, { amount: PRICE_NANOS, effect: noEffect }));
  expect(kind).toBe('done');
  done.calls += 1n;
  await sleep(PAUSE_MS);
};

const hold: Work = async ({ holds }, account, done) => {
  const outcome = await holds.authorize(call(account, { amount: PRICE_NANOS }));
  if (outcome.kind !== 'held') throw new Error(outcome.kind);
  await holds.capture(account.accountId, outcome.hold.holdId, { capturedNanos: PRICE_NANOS });
  done.calls += 1n;
  await sleep(PAUSE_MS);
};

const grant: Work = async ({ db }, { accountId }, done) => {
  const credit = { kind: 'paid', amountNanos: GRANT_NANOS, expiresInMs: null, note: null } as const;
  await db.transaction((tx) => grantCredit(tx, accountId, credit));
  done.grants += 1n;
  await sleep(HELD_MS);
};

const keepWallet: Work = async ({ db }, { accountId }) => {
  await db.transaction(async (tx) => {
    const opened = (await openWallet(tx, accountId)) as OpenWallet;
    await sleep(HELD_MS);
    await saveWallet(tx, opened, opened.wallet, []);
  }, accountId);
  await sleep(HELD_MS);
};

const countInName: Work = async ({ db }, { accountId }, done) => {
  await db.transaction(async (tx) => {
    const { rows } = await tx.query<{ name: string }>(lockName, [accountId]);
    await sleep(HELD_MS);
    await tx.query(rename, [accountId, String((Number(rows[0]?.name) || 0) + 1)]);
  }, accountId);
  done.renames += 1;
};

const noEffect: NonNullable<Parameters<typeof call>[1]>['effect'] = {
  name: 'none',
  exclusiveKeys: () => [],
  read: async (_tx, items) => items.map(() => ({ kind: 'go', context: null })),
  write: (_tx, items) => items.map(() => 'null'),
};

describe.runIf(inject('cluster') !== null)('on a cluster', () => {
  let database: TestDatabase;
  /** As two processes: the lanes of each meet those of the other at the wallet. */
  let shops: [Shop, Shop];

  beforeAll(async () => {
    database = await createTestDatabase();
    shops = [await openShop(database.connection), await openShop(database.connection)];
  });
  afterAll(async () => {
    await Promise.all(shops.map((shop) => shop.end()));
    await database.drop();
  });

  /** Moves the rows of the account to another worker; again when it met the lock_timeout that the role of the tests has on workers. */
  async function move(accountId: string): Promise<void> {
    for (;;) {
      try {
        return await tryToMove(accountId);
      } catch (error) {
        if (!/lock timeout/.test((error as Error).message)) throw error;
      }
    }
  }

  function tryToMove(accountId: string): Promise<void> {
    return withClient(database.connection, async (client) => {
      await client.query('SET lock_timeout = 0');
      // What an earlier move left is removed in the background, and it stands in the way back.
      await expect
        .poll(async () => {
          await client.query('CALL citus_cleanup_orphaned_resources()');
          return (await client.query('SELECT FROM pg_dist_cleanup')).rowCount;
        })
        .toBe(0);
      const { rows } = await client.query<Record<string, unknown>>(findMove, [accountId]);
      const way = Object.values(rows[0] as Record<string, unknown>);
      await client.query(`SELECT citus_move_shard_placement($1, $2, $3, $4, $5, 'force_logical')`, way);
    });
  }

  async function numberOf(text: string): Promise<number> {
    return Number((await shops[0].db.query<{ number: unknown }>({ name: '', text }, [])).rows[0]?.number);
  }

  test.each<[string, (tx: Transaction, accountId: string) => Promise<unknown>]>([
    ['a row FOR UPDATE', (tx, accountId) => tx.query(lockName, [accountId])],
    ['a row FOR SHARE', (tx, accountId) => tx.query(shareName, [accountId])],
    ['the free ones of a list', (tx, accountId) => tx.query(lockFreeWallets, [textArray([accountId])])],
  ])('a move does not end before a transaction that has locked %s', async (_, lock) => {
    const { accountId } = await openAccount(shops[0].db);
    let moved = false;
    const moving = move(accountId).then(() => {
      moved = true;
    });
    await Promise.race([moving, expect.poll(() => numberOf(countCopying), { timeout: 50_000 }).toBe(1)]);
    await shops[0].db.transaction(async (tx) => {
      await lock(tx, accountId);
      await expect.poll(async () => moved || (await numberOf(countWaiting)) > 0).toBe(true);
      expect(moved).toBe(false);
      await tx.query(rename, [accountId, 'renamed']);
    });
    await moving;
  });

  test(`${MOVES} moves under load leave exact books and no lost update`, { timeout: 900_000 }, async () => {
    const [{ db }] = shops;
    const accounts: [Account, Done][] = [];
    for (let made = 0; made < ACCOUNTS; made += 1)
      accounts.push([await openAccount(db, CREDIT_NANOS), { calls: 0n, grants: 0n, renames: 0 }]);
    const moves = new AbortController();
    const running = Promise.all(
      accounts.flatMap(([account, done]) =>
        shops.flatMap((shop) =>
          [charge, charge, hold, grant, keepWallet, countInName].map((work) =>
            repeat(() => work(shop, account, done), moves.signal),
          ),
        ),
      ),
    );
    // A load that fails ends the test at once.
    const moveAll = async () => {
      for (let moved = 0; moved < MOVES; moved += 1)
        await move((accounts[moved % ACCOUNTS] as [Account, Done])[0].accountId);
    };
    try {
      await Promise.race([running, moveAll()]);
    } finally {
      moves.abort();
      await running;
    }
    for (const [{ accountId }, { calls, grants, renames }] of accounts) {
      const left = CREDIT_NANOS + grants * GRANT_NANOS - calls * PRICE_NANOS;
      expect(await booksOf(db, accountId)).toMatchObject({
        balance: left,
        grants: left,
        ledger: left,
        last_balance: left,
        charged: calls * PRICE_NANOS,
        held: 0n,
        reserved: 0n,
        holds: 0n,
        requests: calls,
      });
      expect((await db.query(lockName, [accountId])).rows).toEqual([{ name: String(renames) }]);
      expect(await examineAccount({ db, secrets: null, modules: [] }, accountId)).toEqual([]);
    }
  });
});

/** A move that ends holds its shard for a while: what meets it for too long is refused, not done. */
async function repeat(step: () => Promise<void>, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    try {
      await step();
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== '55P03' && code !== 'SERVICE_UNAVAILABLE') throw error;
    }
  }
}
