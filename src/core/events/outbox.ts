// Transactional outbox: an event is inserted in the transaction it reports. No event of a rolled-back change is sent, and none of a committed
// change is lost.
import { textArray, timestampArray } from '../../db/arrays.ts';
import type { Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../lib/ids.ts';
import { type JsonText, toJson } from '../../lib/json-text.ts';

export interface NewEvent {
  readonly accountId: string;
  readonly type: string;
  /** `{ object, previous?, … }` as it is delivered; no stacks or user data. */
  readonly data: unknown | JsonText;
  readonly requestId: string | null;
  /** Of nextEventId; one is made when absent. */
  readonly eventId?: string;
}

const insertOutbox = statement(
  'event_insert_outbox',
  `INSERT INTO core.event_outbox AS o (account_id, event_id, type, data, request_id, created_at)
   SELECT w.account_id, u.event_id, u.type, u.data, u.request_id, u.created_at
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
          u(account_id, event_id, type, data, request_id, created_at)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

/** Sends the insert in the given transaction without awaiting it: a failure fails the transaction. Events are numbered in the order given. */
export function sendEvents(tx: Transaction, events: readonly NewEvent[], nowMs: number): void {
  if (events.length === 0) return;
  tx.hint('events');
  const ids = events.map(({ eventId }) => eventId ?? nextEventId());
  void tx.query(insertOutbox, [
    textArray([...new Set(events.map((event) => event.accountId))].sort()),
    textArray(events.map((event) => event.accountId)),
    textArray(ids),
    textArray(events.map((event) => event.type)),
    textArray(events.map((event) => toJson(event.data))),
    textArray(events.map((event) => event.requestId)),
    timestampArray(events.map(() => nowMs)),
  ]);
}

let lastIdMs = 0;

/** Ids of one process grow: those of one millisecond would else differ in their random part only, and be numbered in any order. */
export function nextEventId(): string {
  lastIdMs = Math.max(Date.now(), lastIdMs + 1);
  return newId('evt_', lastIdMs);
}
