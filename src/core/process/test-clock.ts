// The test clock: an offset on clock_now(), so that tests advance budgets, grants, leases and retention without sleeping.
import type { Database } from '../../db/database.ts';
import { StartupError } from '../../db/errors.ts';
import { statement } from '../../db/statement.ts';

const OFFSET_SECONDS_MAX = 100 * 366 * 86_400;

// The row lock makes advances queue up: none is lost.
const readSwitch = statement(
  'clock_read_switch',
  `SELECT value FROM core.setting WHERE name = 'test_clock' FOR UPDATE`,
);
const addOffset = statement(
  'clock_add_offset',
  `INSERT INTO core.setting AS s (name, value) VALUES ('test_clock_offset_seconds', $1::text)
       ON CONFLICT (name) DO UPDATE SET value = s.value::bigint + excluded.value::bigint
   RETURNING value::bigint AS seconds`,
);
const setSwitch = statement(
  'clock_set_switch',
  `INSERT INTO core.setting (name, value) VALUES ('test_clock', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);
const readOffset = statement(
  'clock_read_offset',
  `SELECT value::bigint AS seconds FROM core.setting WHERE name = 'test_clock_offset_seconds'`,
);
const readNow = statement('clock_read_now', 'SELECT core.clock_now() AS now');

/**
 * Notes whether this deployment's clock may be moved. A database whose clock was moved is good for tests only:
 * without TEST_CLOCK=on the service refuses it (StartupError).
 */
export async function switchTestClock(db: Database, on: boolean): Promise<void> {
  const { rows } = await db.query<{ seconds: bigint }>(readOffset, []);
  const offset = rows[0]?.seconds ?? 0n;
  if (!on && offset !== 0n) {
    throw new StartupError(
      `the clock of this database was moved by ${offset} s for tests: start with TEST_CLOCK=on, or use another database`,
    );
  }
  await db.query(setSwitch, [on ? 'on' : 'off']);
}

export interface ClockPosition {
  /** Ahead of the real time, advances before included. */
  readonly offsetSeconds: number;
  readonly nowMs: number;
}

/** Moves the clock of the deployment ahead by whole seconds. Answers null unless the service runs with TEST_CLOCK=on. */
export async function advanceTestClock(db: Database, seconds: number): Promise<ClockPosition | null> {
  const offsetSeconds = await db.transaction(async (tx) => {
    const { rows } = await tx.query<{ value: string }>(readSwitch, []);
    if (rows[0]?.value !== 'on') return null;
    const added = await tx.query<{ seconds: bigint }>(addOffset, [String(seconds)]);
    const offset = Number(added.rows[0]?.seconds ?? 0n);
    if (offset > OFFSET_SECONDS_MAX) throw new RangeError('the clock cannot be moved by more than 100 years');
    await tx.query(replaceFunction(offset), []);
    return offset;
  });
  if (offsetSeconds === null) return null;
  const { rows } = await db.query<{ now: number }>(readNow, []);
  return { offsetSeconds, nowMs: (rows[0] as { now: number }).now };
}

// A literal keeps the function inlinable; the plans that hold the old one are made anew by PostgreSQL itself.
function replaceFunction(offsetSeconds: number) {
  return statement(
    `clock_replace_${offsetSeconds}`,
    `CREATE OR REPLACE FUNCTION core.clock_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
       AS $$ SELECT statement_timestamp() + interval '${offsetSeconds} seconds' $$`,
  );
}
