// A kind of background work as a module would bring it: a table, a function that claims due rows, a function that runs one.
import type { LeasedJob, Wanted } from '../../src/core/background/due-work.ts';
import { dueWork } from '../../src/core/background/due-work.ts';
import type { JobLoop } from '../../src/core/background/job-loop.ts';
import { openTurn } from '../../src/core/background/turns.ts';
import { createLog } from '../../src/core/process/log.ts';
import type { Logger } from '../../src/core/process/logger.ts';
import { textArray } from '../../src/db/arrays.ts';
import type { Database, Transaction } from '../../src/db/database.ts';

const WORK = 'test.chores';
export const LEASE_MS = 1_500;

/** due_at: when it is due, or when its lease ends; null once it is done. */
export const CHORE_TABLE = `
  CREATE SCHEMA test;
  CREATE TABLE test.chore (
    account_id text COLLATE "C" NOT NULL,
    chore_id text COLLATE "C" NOT NULL,
    due_at timestamptz,
    attempt integer NOT NULL DEFAULT 0,
    leased boolean NOT NULL DEFAULT false,
    deaths integer NOT NULL DEFAULT 0,
    done_by text,
    PRIMARY KEY (account_id, chore_id)
  );
  CREATE INDEX chore_due ON test.chore (account_id, due_at) WHERE due_at IS NOT NULL`;

const insert = {
  name: 'chore_insert',
  text: `INSERT INTO test.chore AS c (account_id, chore_id, due_at) SELECT $1, u.id, $3 FROM unnest($2::text[]) u(id)`,
};
const claim = {
  name: 'chore_claim',
  text: `WITH c AS MATERIALIZED (
           SELECT chore_id, core.clock_now() + $4 * interval '1 millisecond' AS lease_end
             FROM test.chore
            WHERE account_id = $1 AND due_at <= core.clock_now() AND chore_id <> ALL($3::text[]) AND (leased OR deaths > 0) = $5
            ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         UPDATE test.chore t
            SET due_at = c.lease_end, attempt = t.attempt + 1, leased = true, deaths = t.deaths + CASE WHEN t.leased THEN 1 ELSE 0 END
           FROM c WHERE t.account_id = $1 AND t.chore_id = c.chore_id
      RETURNING t.chore_id AS id, t.attempt, t.deaths`,
};
const findSuspect = {
  name: 'chore_find_suspect',
  text: `SELECT 1 FROM test.chore
          WHERE account_id = $1 AND due_at <= core.clock_now() AND chore_id <> ALL($2::text[]) AND (leased OR deaths > 0) LIMIT 1`,
};
const next = {
  name: 'chore_next',
  text: `SELECT due_at FROM test.chore WHERE account_id = $1 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
};
const move = {
  name: 'chore_move',
  text: `UPDATE test.chore SET due_at = $4, done_by = $5, leased = false WHERE account_id = $1 AND chore_id = $2 AND attempt = $3 AND due_at IS NOT NULL`,
};

const renew = {
  name: 'chore_renew',
  text: `WITH c AS MATERIALIZED (SELECT core.clock_now() + $4 * interval '1 millisecond' AS lease_end)
         UPDATE test.chore t SET due_at = c.lease_end FROM c WHERE t.account_id = $1 AND t.chore_id = $2 AND t.attempt = $3 AND t.leased`,
};

/** `deaths`: processes that died while they did it. */
export interface Chore extends LeasedJob {
  readonly deaths: number;
}

/** Adds chores that are due at `dueMs` (epoch milliseconds). */
export function addChores(db: Database, accountId: string, ids: readonly string[], dueMs: number): Promise<void> {
  return db.transaction(async (tx) => {
    await Promise.all([
      tx.query(insert, [accountId, textArray(ids), new Date(dueMs)]),
      openTurn(tx, accountId, WORK, dueMs),
    ]);
  });
}

/**
 * The loop of one process. `work` does a chore; when it resolves, the chore is done, unless another attempt has it. `beforePutBack` may fail
 * what puts one back; `renewed` hears of every renewal of a lease, which without it is not renewed.
 */
export function choreLoop(
  db: Database,
  holder: string,
  work: (chore: Chore, signal: AbortSignal, lost: AbortSignal) => Promise<void>,
  { log = createLog('silent'), beforePutBack, leaseMs = LEASE_MS, renewed }: ChoreOptions = {},
): JobLoop {
  return dueWork<Chore>(
    { db, log },
    {
      name: WORK,
      places: 8,
      perClaim: 4,
      intervalMs: 20,
      backoff: { firstMs: 200, maxMs: 2_000 },
      claim: (tx, accountId, wanted) => claimChores(tx, accountId, wanted, leaseMs),
      ...(renewed === undefined
        ? {}
        : { renewal: { everyMs: 20, renew: (chore) => renewChore(db, chore, leaseMs, renewed) } }),
      async run(chore, signal, lost) {
        await work(chore, signal, lost);
        await db.query(move, [chore.accountId, chore.id, chore.attempt, null, holder]);
      },
      async putBack(tx, { accountId, id, attempt }, dueMs) {
        beforePutBack?.();
        await tx.query(move, [accountId, id, attempt, new Date(dueMs), null]);
      },
    },
  );
}

interface ChoreOptions {
  readonly log?: Logger;
  readonly beforePutBack?: () => void;
  readonly leaseMs?: number;
  readonly renewed?: (isOurs: boolean) => void;
}

async function renewChore(
  db: Database,
  { accountId, id, attempt }: Chore,
  leaseMs: number,
  renewed: (isOurs: boolean) => void,
) {
  const isOurs = (await db.query(renew, [accountId, id, attempt, leaseMs])).count === 1;
  renewed(isOurs);
  return isOurs;
}

async function claimChores(tx: Transaction, accountId: string, { limit, underWay, suspects }: Wanted, leaseMs: number) {
  const ids = textArray(underWay);
  const [claimed, left] = await Promise.all([
    tx.query<{ id: string; attempt: number; deaths: number }>(claim, [accountId, limit, ids, leaseMs, suspects]),
    tx.query<{ due_at: number }>(next, [accountId]),
  ]);
  const isEmpty = claimed.rows.length === 0 && limit > 0;
  const hasSuspects = isEmpty && (await tx.query(findSuspect, [accountId, ids])).rows.length > 0;
  const jobs = claimed.rows.map((row) => ({ accountId, ...row }));
  return { jobs, nextMs: left.rows[0]?.due_at ?? null, hasSuspects };
}
