// Retention of core records: idempotency keys, events, deliveries, settled holds, and the attempts and bills of vendors.

import type { Sweep } from '../core/background/sweeper/sweep.ts';
import { removeOldRows } from '../core/background/sweeper/sweep.ts';
import { clockNow } from '../core/database-clock.ts';
import { dropOldRequests } from '../core/requests/store.ts';
import { int8Array, textArray, timestampArray } from '../db/arrays.ts';
import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';

// A key lives as long as its hold.
const findAnswers = statement(
  'retention_find_answers',
  `/* fan-out: idempotency keys past their time */
   SELECT i.account_id, i.key_hash AS id FROM core.idempotency i
    WHERE i.expires_at <= core.clock_now() AND i.hold_id IS NULL ORDER BY i.expires_at LIMIT $1`,
);
const removeAnswers = statement(
  'retention_remove_answers',
  `DELETE FROM core.idempotency
    WHERE account_id = $1 AND key_hash = ANY($2::text[]) AND expires_at <= core.clock_now() AND hold_id IS NULL`,
);
const findEvents = statement(
  'retention_find_events',
  `/* fan-out: events older than 30 days */
   SELECT e.account_id, e.sequence FROM core.event e
    WHERE e.created_at <= core.clock_now() - interval '30 days' ORDER BY e.created_at LIMIT $1`,
);
const removeEvents = statement(
  'retention_remove_events',
  'DELETE FROM core.event WHERE account_id = $1 AND sequence = ANY($2::bigint[])',
);
const findDeliveries = statement(
  'retention_find_deliveries',
  `/* fan-out: deliveries older than 30 days */
   SELECT d.account_id, d.delivery_id AS id FROM core.delivery d
    WHERE d.created_at <= core.clock_now() - interval '30 days' ORDER BY d.created_at LIMIT $1`,
);
const removeDeliveries = statement(
  'retention_remove_deliveries',
  'DELETE FROM core.delivery WHERE account_id = $1 AND delivery_id = ANY($2::text[])',
);
const findHolds = statement(
  'retention_find_holds',
  `/* fan-out: holds settled so long ago that their windows are over */
   SELECT h.account_id, h.hold_id AS id FROM core.hold h
    WHERE h.settled_at <= core.clock_now() - interval '62 days' ORDER BY h.settled_at LIMIT $1`,
);
const removeHolds = statement(
  'retention_remove_holds',
  'DELETE FROM core.hold WHERE account_id = $1 AND hold_id = ANY($2::text[]) AND settled_at IS NOT NULL',
);

const findAttempts = statement(
  'retention_find_attempts',
  `/* fan-out: what was asked of vendors, ended 90 days ago */
   SELECT a.account_id, a.attempt_id AS id FROM core.vendor_attempt a
    WHERE a.ended_at <= core.clock_now() - interval '90 days' ORDER BY a.ended_at LIMIT $1`,
);
const removeAttempts = statement(
  'retention_remove_attempts',
  'DELETE FROM core.vendor_attempt WHERE account_id = $1 AND attempt_id = ANY($2::text[]) AND ended_at IS NOT NULL',
);
const findBills = statement(
  'retention_find_bills',
  `/* fan-out: bills of vendors older than 400 days */
   SELECT b.account_id, b.day FROM core.vendor_bill b
    WHERE b.day <= core.clock_now() - interval '400 days' ORDER BY b.day LIMIT $1`,
);
const removeBills = statement(
  'retention_remove_bills',
  'DELETE FROM core.vendor_bill WHERE account_id = $1 AND day = ANY($2::timestamptz[])',
);
const findDropped = statement(
  'retention_find_dropped_requests',
  `/* fan-out: hours whose dropped requests nobody asks for any more */
   SELECT d.account_id, d.hour FROM core.request_dropped d
    WHERE d.hour <= core.clock_now() - interval '8 days' ORDER BY d.hour LIMIT $1`,
);
const removeDropped = statement(
  'retention_remove_dropped_requests',
  'DELETE FROM core.request_dropped WHERE account_id = $1 AND hour = ANY($2::timestamptz[])',
);

interface ById {
  readonly account_id: string;
  readonly id: string;
}

const ids = (rows: readonly ById[]) => [textArray(rows.map(({ id }) => id))];

export function retentionSweeps(db: Database): Sweep[] {
  return [
    {
      name: 'idempotency.retention',
      intervalMs: 10_000,
      run: removeOldRows(db, { find: findAnswers, remove: removeAnswers, keys: ids }),
    },
    {
      name: 'events.retention',
      intervalMs: 60_000,
      run: removeOldRows<{ account_id: string; sequence: bigint }>(db, {
        find: findEvents,
        remove: removeEvents,
        keys: (rows) => [int8Array(rows.map(({ sequence }) => sequence))],
      }),
    },
    {
      name: 'webhooks.retention',
      intervalMs: 60_000,
      run: removeOldRows(db, { find: findDeliveries, remove: removeDeliveries, keys: ids }),
    },
    {
      name: 'holds.retention',
      intervalMs: 60_000,
      run: removeOldRows(db, { find: findHolds, remove: removeHolds, keys: ids }),
    },
    {
      name: 'vendors.attempt_retention',
      intervalMs: 60_000,
      run: removeOldRows(db, { find: findAttempts, remove: removeAttempts, keys: ids }),
    },
    {
      name: 'vendors.bill_retention',
      intervalMs: 60_000,
      run: removeOldRows<{ account_id: string; day: number }>(db, {
        find: findBills,
        remove: removeBills,
        keys: (rows) => [timestampArray(rows.map(({ day }) => day))],
      }),
    },
    {
      name: 'requests.retention',
      intervalMs: 60_000,
      run: async (signal) => {
        const dropped = await dropOldRequests(db, await clockNow(db));
        return (await removeOldDropped(db)(signal)) || dropped;
      },
    },
  ];
}

function removeOldDropped(db: Database): Sweep['run'] {
  return removeOldRows<{ account_id: string; hour: number }>(db, {
    find: findDropped,
    remove: removeDropped,
    keys: (rows) => [timestampArray(rows.map(({ hour }) => hour))],
  });
}
