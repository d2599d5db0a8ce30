// How many verifications of each day found what: a row for each reason, added to in the commit that charges for them.
import { int8Array, textArray, timestampArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { iso, startOfDay } from '../../lib/time.ts';
import { STATS_DAYS } from './limits.ts';
import { type Reason, reasons } from './solution.ts';

const add = statement(
  'captcha_add_tally',
  `INSERT INTO captcha.tally AS t (account_id, day, reason, verifications)
   SELECT w.account_id, u.day, u.reason, u.verifications
     FROM core.wallet w, unnest($2::text[], $3::timestamptz[], $4::text[], $5::bigint[]) u(account_id, day, reason, verifications)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, day, reason) DO UPDATE SET verifications = t.verifications + excluded.verifications`,
);
const selectDays = statement(
  'captcha_select_tally',
  `SELECT t.day, t.reason, t.verifications FROM captcha.tally t
    WHERE t.account_id = $1 AND t.day > core.clock_now() - interval '${STATS_DAYS} days' ORDER BY t.day`,
);

interface Found {
  readonly accountId: string;
  readonly reason: Reason;
}

export function sendTally(tx: Transaction, found: readonly Found[], nowMs: number): void {
  const rows = [...Map.groupBy(found, ({ accountId, reason }) => `${accountId}\n${reason}`)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const first = rows.map(([, of]) => of[0] as Found);
  void tx.query(add, [
    textArray([...new Set(first.map(({ accountId }) => accountId))]),
    textArray(first.map(({ accountId }) => accountId)),
    timestampArray(first.map(() => startOfDay(nowMs))),
    textArray(first.map(({ reason }) => reason)),
    int8Array(rows.map(([, of]) => BigInt(of.length))),
  ]);
}

type Day = { readonly date: string } & Record<Reason, number>;

/** Days of the last thirty that had any, the oldest first. */
export async function readTally(db: Queryable, accountId: string): Promise<Day[]> {
  const { rows } = await db.query<{ day: number; reason: Reason; verifications: bigint }>(selectDays, [accountId]);
  const days = Map.groupBy(rows, ({ day }) => day);
  return [...days].map(([day, of]) => {
    const counted = Object.fromEntries(of.map(({ reason, verifications }) => [reason, Number(verifications)]));
    const none = Object.fromEntries(reasons.map((reason) => [reason, 0])) as Record<Reason, number>;
    return { date: iso(day).slice(0, 'yyyy-mm-dd'.length), ...none, ...counted };
  });
}
