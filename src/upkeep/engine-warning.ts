// Warnings about the distributed engine (Citus). Some releases open connections without limit if the coordinator holds shards; some workers
// lose commits when a shard is moved.
import type { Queryable } from '../db/database.ts';
import { keepsPlans, releaseOf } from '../db/engine-release.ts';
import { statement } from '../db/statement.ts';

const FIX = 'https://github.com/citusdata/citus/pull/8824';
const readVersion = statement('doctor_read_engine', 'SELECT citus_version() AS version');
// A move ends once its target has what the source had written (pg_current_wal_lsn). What is acknowledged before it is written may come later.
// Measured with wal_writer_delay at 10 s: 172 of 41,214 updates lost in 7 moves, none of 77,797 in 10 with `on`.
const findEarly = statement(
  'doctor_find_early_workers',
  `SELECT nodename || ':' || nodeport AS node FROM run_command_on_workers('SHOW synchronous_commit')
    WHERE success AND result = 'off' ORDER BY 1`,
);

/** Of the distributed engine that `db` is on. */
export async function engineWarnings(db: Queryable): Promise<string[]> {
  const version = (await db.query<{ version: string }>(readVersion, [])).rows[0]?.version ?? '';
  const early = (await db.query<{ node: string }>(findEarly, [])).rows.map(({ node }) => node);
  return [warningOf(version), earlyWarning(early)].filter((warning) => warning !== null);
}

/** `version` as citus_version() answers it: `Citus 13.2.2 on x86_64-pc-linux-gnu, …`. */
export function warningOf(version: string): string | null {
  const release = releaseOf(version);
  if (release === undefined || !keepsPlans(version)) return null;
  return (
    `Citus ${release} keeps a new plan for every execution of a prepared statement on shards of the coordinator: ` +
    `connections grow until memory runs out. Keep shards off the coordinator, or use 13.2.0 or a release with the fix of ${FIX}.`
  );
}

function earlyWarning(nodes: readonly string[]): string | null {
  if (nodes.length === 0) return null;
  return `synchronous_commit is off on ${nodes.join(', ')}: moving a shard online can lose commits. Set it to on.`;
}
