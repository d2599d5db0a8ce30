// Retention of changes and silences; and rules that a clock that went back had left due far in the future.
import { mendEach, removerOf, type Sweep } from '../../core/background/sweeper/sweep.ts';
import { openTurn } from '../../core/background/turns.ts';
import { clockNow } from '../../core/database-clock.ts';
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { KEEP_DAYS, LOOKS } from './limits.ts';

const FAR_ROWS = 200;

const oldChanges = removerOf({ table: 'alerts.change', key: 'change_id', at: 'created_at', keepDays: KEEP_DAYS });
const oldSilences = removerOf({ table: 'alerts.silence', key: 'silence_id', at: 'until_at', keepDays: 1 });

// A rule is due at the latest in 120 of its steps, which are of an hour at most.
const findFar = statement(
  'alerts_find_far',
  `/* fan-out: rules that are due later than any can be */
   SELECT r.account_id FROM alerts.rule r
    WHERE r.due_at > core.clock_now() + (r.every_seconds * r.spread + 120) * interval '1 second'
    ORDER BY r.due_at DESC LIMIT $1`,
);
const mendFar = statement(
  'alerts_mend_far',
  `UPDATE alerts.rule SET due_at = $2, looked_at = NULL, attempt = attempt + 1 WHERE account_id = $1 AND due_at > $2`,
);

export function alertsSweeps(db: Database): Sweep[] {
  return [
    { name: 'alerts.changes', intervalMs: 60_000, run: oldChanges(db) },
    { name: 'alerts.silences', intervalMs: 3_600_000, run: oldSilences(db) },
    { name: 'alerts.clock', intervalMs: 60_000, run: (signal) => mendFarRules(db, signal) },
  ];
}

/** Accounts of such rules begin anew with all of them. */
async function mendFarRules(db: Database, signal: AbortSignal): Promise<boolean> {
  const { rows } = await db.query<{ account_id: string }>(findFar, [FAR_ROWS]);
  const accounts = [...new Set(rows.map(({ account_id: accountId }) => accountId))];
  const finished = await mendEach(accounts, signal, (accountId) =>
    db.transaction(async (tx) => {
      const nowMs = await clockNow(tx);
      await tx.query(mendFar, [accountId, timestamp(nowMs)]);
      await openTurn(tx, accountId, LOOKS, nowMs);
    }),
  );
  return finished && rows.length === FAR_ROWS;
}
