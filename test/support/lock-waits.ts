// Who waits for a lock: where the rows lie, which on a distributed engine is on its workers.
import { inject } from 'vitest';

/** A query whose one row has, as `waiters`, how many sessions of this database wait for a lock with a statement like `pattern`. */
export function lockWaitsSql(pattern = '%'): string {
  const here = `SELECT count(*)::int AS waiters FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '${pattern}'`;
  return inject('cluster') === null
    ? here
    : `SELECT sum(result::int)::int AS waiters FROM run_command_on_workers($node$${here}$node$)`;
}
