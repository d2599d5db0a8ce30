// Background work of risk: removes keys and decisions after 30 days and expired list entries; reloads the operator's databases.
import { removeOldRows, removerOf, type Sweep } from '../../core/background/sweeper/sweep.ts';
import { clockNow } from '../../core/database-clock.ts';
import { byteaArray } from '../../db/arrays.ts';
import { dropOldestPartition } from '../../db/partitions.ts';
import { statement } from '../../db/statement.ts';
import { DAY_MS, HOUR_MS, startOfDay } from '../../lib/time.ts';
import { KEEP_DAYS } from './limits.ts';
import type { RiskState } from './state.ts';

const INTERVAL_MS = 60_000;

// `last_day` counts days since 1970.
const isOld = `last_day < floor(extract(epoch FROM core.clock_now()) / 86400)::integer - ${KEEP_DAYS}`;
const findOldKeys = statement(
  'risk_window_find_old',
  `/* fan-out: keys past retention */
   SELECT w.account_id, w.key FROM risk.window w WHERE w.${isOld} ORDER BY w.last_day LIMIT $1`,
);
const removeOldKeys = statement(
  'risk_window_remove_old',
  `DELETE FROM risk.window AS t WHERE t.account_id = $1 AND t.key = ANY($2::bytea[]) AND t.${isOld}`,
);
const removeExpired = removerOf({ table: 'risk.entry', key: 'entry', at: 'expires_at', keepDays: 0 });

export function riskSweeps({ core: { db }, networks }: Pick<RiskState, 'core' | 'networks'>): readonly Sweep[] {
  return [
    {
      name: 'risk.decisions',
      intervalMs: INTERVAL_MS,
      run: async () => dropOldestPartition(db, ['risk.decision'], startOfDay(await clockNow(db)) - KEEP_DAYS * DAY_MS),
    },
    {
      name: 'risk.keys',
      intervalMs: INTERVAL_MS,
      run: removeOldRows<{ account_id: string; key: Buffer }>(db, {
        find: findOldKeys,
        remove: removeOldKeys,
        keys: (rows) => [byteaArray(rows.map(({ key }) => key))],
      }),
    },
    { name: 'risk.entries', intervalMs: INTERVAL_MS, run: removeExpired(db) },
    {
      name: 'risk.databases',
      intervalMs: HOUR_MS,
      perProcess: true,
      run: async () => {
        await networks.read();
        return false;
      },
    },
  ];
}
