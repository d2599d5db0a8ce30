// core.turn: the time at which each account is next served, per kind of background work. A served account goes to the end of the line. Code that
// makes a row due calls openTurn in the same transaction, which raises `told`. A claim that began earlier does not postpone the account past
// that time, so no due row is missed.

import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';

export interface AccountTurn {
  readonly accountId: string;
  /** Grows each time something is said to be due. */
  readonly told: bigint;
  /** For how long the account has been due, in seconds. */
  readonly lateSeconds: number;
}

const open = statement(
  'turn_open',
  `INSERT INTO core.turn AS t (account_id, work, due_at, told) VALUES ($1, $2, $3, 1)
       ON CONFLICT (account_id, work) DO UPDATE SET due_at = least(t.due_at, excluded.due_at), told = t.told + 1`,
);
const find = statement(
  'turn_find',
  `/* fan-out: accounts with due work, the one that waits longest first */
   SELECT t.account_id, t.told, extract(epoch FROM core.clock_now() - t.due_at)::float8 AS late
     FROM core.turn t
    WHERE t.work = $1 AND t.due_at <= core.clock_now()
    ORDER BY t.due_at
    LIMIT $2`,
);
const end = statement(
  'turn_end',
  `UPDATE core.turn AS t
      SET due_at = CASE WHEN t.told = $3 THEN $4::timestamptz ELSE $5::timestamptz END
    WHERE t.account_id = $1 AND t.work = $2`,
);
const putOff = statement(
  'turn_put_off',
  `UPDATE core.turn SET due_at = core.clock_now() + interval '30 seconds' WHERE account_id = $1 AND work = $2`,
);

/**
 * Something of the account is due at `dueMs`. Wakes the work of this process after the commit, unless that is `later`. Answers the statement's own
 * promise, which an effect need not await: when it fails, the transaction fails with its error.
 */
export function openTurn(
  tx: Transaction,
  accountId: string,
  work: string,
  dueMs: number,
  { later = false } = {},
): Promise<unknown> {
  if (!later) tx.hint(hintOf(work));
  return tx.query(open, [accountId, work, timestamp(dueMs)]);
}

/** The hint that is given with each turn opened. */
export const hintOf = (work: string) => `due ${work}`;

/** Up to `limit` accounts with something due. */
export async function dueTurns(db: Queryable, work: string, limit: number): Promise<AccountTurn[]> {
  const { rows } = await db.query<{ account_id: string; told: bigint; late: number }>(find, [work, limit]);
  return rows.map((row) => ({ accountId: row.account_id, told: row.told, lateSeconds: row.late }));
}

/**
 * After a claim at `nowMs`: the account is due again at `nextMs` (null: never), or at once when anything was said to be due since the
 * turn was found. No earlier than now: whoever waits longer is served first, whatever was missed.
 */
export async function endTurn(
  tx: Queryable,
  { accountId, told }: AccountTurn,
  work: string,
  nextMs: number | null,
  nowMs: number,
): Promise<void> {
  const due = nextMs === null ? null : timestamp(Math.max(nextMs, nowMs));
  await tx.query(end, [accountId, work, told, due, timestamp(nowMs)]);
}

/** An account whose work cannot be claimed now is looked at again in half a minute. */
export async function putTurnOff(db: Queryable, accountId: string, work: string): Promise<void> {
  await db.query(putOff, [accountId, work]);
}
