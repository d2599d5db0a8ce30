// Who waits for a lock: where the rows lie, which on a distributed engine is on its workers.
import { inject } from 'vitest';
import type { Queryable } from '../../src/db/database.ts';

/** A query whose one row has, as `waiters`, how many sessions of this database wait for a lock with a statement like `pattern`. */
export function lockWaitsSql(pattern = '%'): string {
  const here = `SELECT count(*)::int AS waiters FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '${pattern}'`;
  return inject('cluster') === null
    ? here
    : `SELECT sum(result::int)::int AS waiters FROM run_command_on_workers($node$${here}$node$)`;
}

/** How many sessions of the database wait for a lock. */
export async function lockWaiters(db: Queryable): Promise<number> {
  return (
    (await db.query<{ waiters: number }>({ name: 'test_lock_waiters', text: lockWaitsSql() }, [])).rows[0]?.waiters ?? 0
  );
}
