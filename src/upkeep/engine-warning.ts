// Releases of the distributed engine (Citus) whose connections grow without end where the coordinator holds shards. Their answers are right.
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';

const FIX = 'https://github.com/citusdata/citus/pull/8824';
// They plan a prepared statement that a node executes itself anew each time, and keep every plan. Measured: 154 MB a connection after 6,000
// statements, and 2 MB with the shards on workers.
const KEEP_PLANS = new Set(['12.1.11', '12.1.12', '13.2.1', '13.2.2', '14.0.0', '14.0.1']);

const readVersion = statement('doctor_read_engine', 'SELECT citus_version() AS version');

/** What to know of the release of the distributed engine that `db` is on; null: nothing. */
export async function engineWarning(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ version: string }>(readVersion, []);
  return warningOf(rows[0]?.version ?? '');
}

/** `version` as citus_version() answers it: `Citus 13.2.2 on x86_64-pc-linux-gnu, …`. */
export function warningOf(version: string): string | null {
  const release = /^Citus (\d+\.\d+\.\d+)\b/.exec(version)?.[1];
  if (release === undefined || !KEEP_PLANS.has(release)) return null;
  return (
    `Citus ${release} keeps a new plan for every execution of a prepared statement on shards of the coordinator: ` +
    `connections grow until memory runs out. Keep shards off the coordinator, or use 13.2.0 or a release with the fix of ${FIX}.`
  );
}
