// Numbers events: committed rows of the outbox move to core.event with the account's next sequence numbers, without gaps, and become
// deliveries in the same transaction. The account's row of core.event_sequence is locked throughout, so any number of processes may do
// this at once.

import { clockNow } from '../core/database-clock.ts';
import { nextEventId } from '../core/events/outbox.ts';
import { type EventRow, fitData } from '../core/events/wire.ts';
import { boolArray, int8Array, textArray, timestampArray } from '../db/arrays.ts';
import type { Database, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { mailBudgetAlerts } from '../people/mail/budget-alerts.ts';
import { dispatchEvents, eventsWithin, subscribersOf } from './deliveries/dispatch.ts';

interface OutboxRow {
  readonly event_id: string;
  readonly type: string;
  readonly data: string;
  readonly request_id: string | null;
  readonly created_at: number;
}

const EVENTS_PER_TRANSACTION = 200;
// Events with many subscribers: bounds the transaction, and how long the account's webhooks are locked.
const DELIVERIES_PER_TRANSACTION = 2_000;

const findAccount = statement(
  'event_find_outbox',
  `/* fan-out: the next account with events that have no number yet */
   SELECT account_id FROM core.event_outbox WHERE account_id > $1 ORDER BY account_id LIMIT 1`,
);
const openSequence = statement(
  'event_open_sequence',
  `INSERT INTO core.event_sequence (account_id, last_sequence) VALUES ($1, 0) ON CONFLICT (account_id) DO NOTHING`,
);
const lockSequence = statement(
  'event_lock_sequence',
  `SELECT last_sequence FROM core.event_sequence WHERE account_id = $1 FOR UPDATE`,
);
const readOutbox = statement(
  'event_read_outbox',
  `SELECT event_id, type, data, request_id, created_at
     FROM core.event_outbox
    WHERE account_id = $1
    ORDER BY created_at, event_id
    LIMIT $2`,
);
const insertEvents = statement(
  'event_insert',
  `INSERT INTO core.event AS e (account_id, sequence, event_id, type, data, request_id, test, created_at)
   SELECT s.account_id, u.sequence, u.event_id, u.type, u.data, u.request_id, u.test, u.created_at
     FROM core.event_sequence s, unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[])
          u(sequence, event_id, type, data, request_id, test, created_at)
    WHERE s.account_id = $1`,
);
const saveSequence = statement(
  'event_save_sequence',
  `UPDATE core.event_sequence SET last_sequence = $2 WHERE account_id = $1`,
);
const deleteOutbox = statement(
  'event_delete_outbox',
  `DELETE FROM core.event_outbox o USING unnest($2::timestamptz[], $3::text[]) u(created_at, event_id)
    WHERE o.account_id = $1 AND o.created_at = u.created_at AND o.event_id = u.event_id`,
);

/** Numbers everything that the account's committed transactions have written so far. */
export async function sequenceAccount(db: Database, accountId: string): Promise<void> {
  for (;;) {
    // Each round is a transaction of its own.
    const { mayBeMore } = await sequenceSome(db, accountId);
    if (!mayBeMore) return;
  }
}

/** What one transaction has numbered. */
export interface Numbered {
  /** Of each event. */
  readonly types: readonly string[];
  readonly mayBeMore: boolean;
}

/** Numbers some of the account's events and makes their deliveries, in one transaction. */
export function sequenceSome(db: Database, accountId: string): Promise<Numbered> {
  return db.transaction((tx) => moveEvents(tx, accountId), accountId);
}

/**
 * Up to `limit` accounts with events that have no number yet, after `afterId` in the order of their ids. One look-up for each: grouping
 * would read all the events of an account that has very many.
 */
export async function accountsWithEvents(db: Database, afterId: string, limit: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < limit) {
    const { rows } = await db.query<{ account_id: string }>(findAccount, [found.at(-1) ?? afterId]);
    if (rows[0] === undefined) break;
    found.push(rows[0].account_id);
  }
  return found;
}

interface NewTestEvent {
  readonly accountId: string;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
  readonly requestId: string | null;
}

/** Stores one event marked `test` with the next number. It has no effect to wait for, so it needs no outbox. */
export async function numberEvent(tx: Transaction, event: NewTestEvent): Promise<EventRow> {
  const { accountId, type, data, requestId } = event;
  const [, sequence, nowMs] = await Promise.all([
    tx.query(openSequence, [accountId]),
    tx.query<{ last_sequence: bigint }>(lockSequence, [accountId]),
    clockNow(tx),
  ]);
  const row: EventRow = {
    account_id: accountId,
    sequence: (sequence.rows[0]?.last_sequence ?? 0n) + 1n,
    event_id: nextEventId(),
    type,
    data,
    request_id: requestId,
    test: true,
    created_at: nowMs,
  };
  await writeEvents(tx, accountId, [row]);
  return row;
}

async function writeEvents(
  tx: Transaction,
  accountId: string,
  events: readonly Omit<EventRow, 'account_id'>[],
): Promise<void> {
  const [inserted] = await Promise.all([
    tx.query(insertEvents, [
      accountId,
      int8Array(events.map((event) => event.sequence)),
      textArray(events.map((event) => event.event_id)),
      textArray(events.map((event) => event.type)),
      textArray(events.map((event) => event.data)),
      textArray(events.map((event) => event.request_id)),
      boolArray(events.map((event) => event.test)),
      timestampArray(events.map((event) => event.created_at)),
    ]),
    tx.query(saveSequence, [accountId, events.at(-1)?.sequence ?? null]),
  ]);
  if (inserted.count !== events.length) throw new Error(`${inserted.count} of ${events.length} events were numbered`);
}

async function moveEvents(tx: Transaction, accountId: string): Promise<Numbered> {
  const [, sequence, nowMs, outbox, subscribers] = await Promise.all([
    tx.query(openSequence, [accountId]),
    tx.query<{ last_sequence: bigint }>(lockSequence, [accountId]),
    clockNow(tx),
    tx.query<OutboxRow>(readOutbox, [accountId, EVENTS_PER_TRANSACTION]),
    // After the events: a webhook that was there before its event is among them.
    subscribersOf(tx, accountId),
  ]);
  if (outbox.rows.length === 0) return { types: [], mayBeMore: false };
  const last = sequence.rows[0]?.last_sequence ?? 0n;
  const taken = outbox.rows.slice(0, eventsWithin(outbox.rows, subscribers, DELIVERIES_PER_TRANSACTION));
  const events = taken.map((event, i) => ({
    ...event,
    data: fitData(event.data),
    test: false,
    sequence: last + BigInt(i + 1),
  }));
  tx.cork();
  dispatchEvents(tx, accountId, events, subscribers, nowMs);
  void tx.query(deleteOutbox, [
    accountId,
    timestampArray(taken.map((event) => event.created_at)),
    textArray(taken.map((event) => event.event_id)),
  ]);
  await writeEvents(tx, accountId, events);
  await mailBudgetAlerts(tx, accountId, events, nowMs);
  const mayBeMore = events.length < outbox.rows.length || outbox.rows.length === EVENTS_PER_TRANSACTION;
  return { types: events.map(({ type }) => type), mayBeMore };
}
