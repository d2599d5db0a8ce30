// A clock that stands still until the test moves it: core.clock_now() becomes a literal.
import type { Database } from '../../src/db/database.ts';

export async function setClock(db: Database, ms: number): Promise<void> {
  const literal = new Date(ms).toISOString();
  const text = `CREATE OR REPLACE FUNCTION core.clock_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
                AS $$ SELECT timestamptz '${literal}' $$`;
  await db.query({ name: `clock_${ms}`, text }, []);
}
