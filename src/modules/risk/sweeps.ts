// Retention: keys and decisions go after 30 days, list entries when they have expired.
import { removeOldRows, type Sweep } from '../../core/background/sweeper/sweep.ts';
import { clockNow } from '../../core/database-clock.ts';
import { byteaArray, textArray } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { dropOldestPartition } from '../../db/partitions.ts';
import { statement } from '../../db/statement.ts';
import { DAY_MS, startOfDay } from '../../lib/time.ts';
import { KEEP_DAYS } from './limits.ts';

const INTERVAL_MS = 60_000;

// `last_day` counts days since 1970, and a key is kept for 30 days after the last one.
const findOldWindows = statement(
  'risk_window_find_old',
  `/* fan-out: keys past retention */
   SELECT w.account_id, w.key FROM risk.window w
    WHERE w.last_day < floor(extract(epoch FROM core.clock_now()) / 86400)::integer - 30 ORDER BY w.last_day LIMIT $1`,
);
const removeOldWindows = statement(
  'risk_window_remove_old',
  `DELETE FROM risk.window AS t
    WHERE t.account_id = $1 AND t.key = ANY($2::bytea[])
      AND t.last_day < floor(extract(epoch FROM core.clock_now()) / 86400)::integer - 30`,
);
const findExpired = statement(
  'risk_entry_find_expired',
  `/* fan-out: expired entries */
   SELECT e.account_id, e.entry FROM risk.entry e WHERE e.expires_at <= core.clock_now() ORDER BY e.expires_at LIMIT $1`,
);
const removeExpired = statement(
  'risk_entry_remove_expired',
  'DELETE FROM risk.entry AS t WHERE t.account_id = $1 AND t.entry = ANY($2::text[]) AND t.expires_at <= core.clock_now()',
);

export function riskSweeps(db: Database): readonly Sweep[] {
  return [
    {
      ...{ name: 'risk.decisions', intervalMs: INTERVAL_MS },
      run: async () => dropOldestPartition(db, ['risk.decision'], startOfDay(await clockNow(db)) - KEEP_DAYS * DAY_MS),
    },
    {
      ...{ name: 'risk.keys', intervalMs: INTERVAL_MS },
      run: removeOldRows<{ account_id: string; key: Buffer }>(db, {
        ...{ find: findOldWindows, remove: removeOldWindows },
        keys: (rows) => [byteaArray(rows.map(({ key }) => key))],
      }),
    },
    {
      ...{ name: 'risk.entries', intervalMs: INTERVAL_MS },
      run: removeOldRows<{ account_id: string; entry: string }>(db, {
        ...{ find: findExpired, remove: removeExpired },
        keys: (rows) => [textArray(rows.map(({ entry }) => entry))],
      }),
    },
  ];
}
