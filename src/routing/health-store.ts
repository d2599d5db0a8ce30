// SQL of vendors' health: small tables that belong to no account. On a distributed engine they stay on the coordinator, and are never written
// together with rows of accounts. The opening of a breaker and its notice commit together.
import { int8Array, textArray } from '../db/arrays.ts';
import type { Database, Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { FailoverReason } from '../vendors/call/port.ts';
import { noteDown } from './notices.ts';

export interface Calls {
  readonly vendor: string;
  readonly capability: string;
  readonly calls: number;
  readonly failures: number;
  /** Of the last failure. */
  readonly reason: FailoverReason | null;
}

export interface HealthRow {
  readonly vendor: string;
  readonly capability: string;
  readonly state: 'closed' | 'open' | 'half_open';
  readonly reason: FailoverReason | null;
  /** Epoch milliseconds of the database. */
  readonly since: number | null;
  readonly retry_at: number | null;
  readonly openings: number;
}

const insertCalls = statement(
  'vendor_add_calls',
  `INSERT INTO core.vendor_calls AS c (vendor, capability, second, calls, failures)
   SELECT u.vendor, u.capability, date_trunc('second', core.clock_now()), u.calls, u.failures
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) u(vendor, capability, calls, failures)
    ORDER BY u.vendor, u.capability
       ON CONFLICT (vendor, capability, second) DO UPDATE SET calls = c.calls + excluded.calls, failures = c.failures + excluded.failures`,
);
const deleteOldCalls = statement(
  'vendor_forget_calls',
  `DELETE FROM core.vendor_calls WHERE second <= core.clock_now() - interval '1 minute'`,
);
const deleteCalls = statement(
  'vendor_forget_calls_of',
  'DELETE FROM core.vendor_calls WHERE vendor = $1 AND capability = $2',
);
const selectHealth = statement(
  'vendor_read_health',
  `SELECT vendor, capability, state, reason, since, retry_at, openings FROM core.vendor_health`,
);
const selectClock = statement('vendor_read_clock', 'SELECT core.clock_now() AS now');
// Five failures, and half of all calls, within half a minute.
const insertIfFailing = statement(
  'vendor_open_if_failing',
  `INSERT INTO core.vendor_health AS h (vendor, capability, state, reason, since, retry_at, openings)
   SELECT $1, $2, 'open', $3, core.clock_now(), core.clock_now() + $4 * interval '1 millisecond', 1
     FROM (SELECT sum(calls) AS calls, sum(failures) AS failures
             FROM core.vendor_calls
            WHERE vendor = $1 AND capability = $2 AND second > core.clock_now() - interval '30 seconds') w
    WHERE w.failures >= 5 AND w.failures * 2 >= w.calls
       ON CONFLICT (vendor, capability) DO UPDATE
      SET state = excluded.state, reason = excluded.reason, since = excluded.since, retry_at = excluded.retry_at, openings = 1
    WHERE h.state = 'closed'`,
);
const insertOpen = statement(
  'vendor_open',
  `INSERT INTO core.vendor_health AS h (vendor, capability, state, reason, since, retry_at, openings)
   VALUES ($1, $2, 'open', $3, core.clock_now(), core.clock_now() + $4 * interval '1 millisecond', 1)
       ON CONFLICT (vendor, capability) DO UPDATE
      SET state = excluded.state, reason = excluded.reason, retry_at = excluded.retry_at,
          since = CASE WHEN h.state = 'closed' THEN excluded.since ELSE h.since END,
          openings = CASE WHEN h.state = 'closed' THEN 1 ELSE h.openings END
   RETURNING since = core.clock_now() AS opened`,
);
const insertWait = statement(
  'vendor_wait',
  `INSERT INTO core.vendor_health AS h (vendor, capability, state, reason, retry_at)
   VALUES ($1, $2, 'closed', $3, core.clock_now() + $4 * interval '1 millisecond')
       ON CONFLICT (vendor, capability) DO UPDATE
      SET state = CASE WHEN h.state = 'closed' THEN 'closed' ELSE 'open' END, reason = excluded.reason,
          retry_at = greatest(h.retry_at, excluded.retry_at)`,
);
const updateProbe = statement(
  'vendor_claim_probe',
  `UPDATE core.vendor_health SET state = 'half_open', retry_at = core.clock_now() + $3 * interval '1 millisecond'
    WHERE vendor = $1 AND capability = $2 AND state <> 'closed' AND retry_at <= core.clock_now()
   RETURNING openings`,
);
const updateReturned = statement(
  'vendor_return_probe',
  `UPDATE core.vendor_health SET state = 'open', retry_at = core.clock_now()
    WHERE vendor = $1 AND capability = $2 AND state = 'half_open'`,
);
const updateReopened = statement(
  'vendor_reopen',
  `UPDATE core.vendor_health
      SET state = 'open', reason = $3, openings = openings + 1, retry_at = core.clock_now() + $4 * interval '1 millisecond'
    WHERE vendor = $1 AND capability = $2 AND state = 'half_open'`,
);
const deleteHealth = statement(
  'vendor_close',
  `DELETE FROM core.vendor_health WHERE vendor = $1 AND capability = $2 AND state = 'half_open'`,
);

export async function addCalls(db: Queryable, counted: readonly Calls[]): Promise<void> {
  await db.query(insertCalls, [
    textArray(counted.map(({ vendor }) => vendor)),
    textArray(counted.map(({ capability }) => capability)),
    int8Array(counted.map(({ calls }) => BigInt(calls))),
    int8Array(counted.map(({ failures }) => BigInt(failures))),
  ]);
}

export async function forgetOldCalls(db: Queryable): Promise<void> {
  await db.query(deleteOldCalls, []);
}

/** All rows, and the time of the database. */
export async function readHealth(db: Queryable): Promise<{ rows: HealthRow[]; nowMs: number }> {
  const [{ rows }, clock] = await Promise.all([
    db.query<HealthRow>(selectHealth, []),
    db.query<{ now: number }>(selectClock, []),
  ]);
  return { rows, nowMs: clock.rows[0]?.now as number };
}

/** Opens a vendor that fails too often, unless it is open. */
export function openIfFailing(
  db: Database,
  vendor: string,
  capability: string,
  reason: FailoverReason,
  pauseMs: number,
): Promise<void> {
  return db.transaction(async (tx) => {
    const { count } = await tx.query(insertIfFailing, [vendor, capability, reason, pauseMs]);
    if (count > 0) await noteDown(tx, vendor);
  });
}

/** Opens a vendor whatever was counted; one that is open stays so for `pauseMs` from now. */
export function openVendor(
  db: Database,
  vendor: string,
  capability: string,
  reason: FailoverReason,
  pauseMs: number,
): Promise<void> {
  return db.transaction(async (tx: Transaction) => {
    const { rows } = await tx.query<{ opened: boolean }>(insertOpen, [vendor, capability, reason, pauseMs]);
    if (rows[0]?.opened === true) await noteDown(tx, vendor);
  });
}

/** No call for so long. One that is being tried is open again. */
export async function waitForVendor(
  db: Queryable,
  vendor: string,
  capability: string,
  reason: FailoverReason,
  ms: number,
): Promise<void> {
  await db.query(insertWait, [vendor, capability, reason, ms]);
}

/** Makes one call the one that tries the vendor: how often it has opened in a row; null when another call is. */
export async function claimProbe(
  db: Queryable,
  vendor: string,
  capability: string,
  probeMs: number,
): Promise<number | null> {
  const { rows } = await db.query<{ openings: number }>(updateProbe, [vendor, capability, probeMs]);
  return rows[0]?.openings ?? null;
}

/** The call that was to try it tells nothing: the next one does. */
export async function returnProbe(db: Queryable, vendor: string, capability: string): Promise<void> {
  await db.query(updateReturned, [vendor, capability]);
}

export async function reopenVendor(
  db: Queryable,
  vendor: string,
  capability: string,
  reason: FailoverReason,
  pauseMs: number,
): Promise<void> {
  await db.query(updateReopened, [vendor, capability, reason, pauseMs]);
}

/** It answers: what was counted before counts no more. */
export function closeVendor(db: Database, vendor: string, capability: string): Promise<void> {
  return db.transaction(async (tx) => {
    await tx.query(deleteHealth, [vendor, capability]);
    await tx.query(deleteCalls, [vendor, capability]);
  });
}
