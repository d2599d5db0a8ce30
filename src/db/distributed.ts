// Whether the database is a distributed engine: Citus, one coordinator and its workers. migrate puts the tables on the nodes
// (core.distribute of migration 0001); the SQL is the same, for one account at a time (docs/sql-rules.md).
import type pg from 'pg';

export async function isDistributed(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS found`,
  );
  return rows[0]?.found === true;
}
