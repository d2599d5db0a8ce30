// Retention: calls are removed after 30 days, pages to connect a day after their end.
import { removerOf, type Sweep } from '../../core/background/sweeper/sweep.ts';
import type { Database } from '../../db/database.ts';
import { KEEP_DAYS } from './limits.ts';

const oldCalls = removerOf({
  table: 'vault.call',
  key: 'call_id',
  at: 'created_at',
  keepDays: KEEP_DAYS,
  when: 'due_at IS NULL',
});
const oldConnects = removerOf({ table: 'vault.connect', key: 'connect_id', at: 'expires_at', keepDays: 1 });

export function vaultSweeps(db: Database): Sweep[] {
  return [
    { name: 'vault.calls', intervalMs: 60_000, run: oldCalls(db) },
    { name: 'vault.connects', intervalMs: 3_600_000, run: oldConnects(db) },
  ];
}
