// Numbers events: committed rows of the outbox move to core.event with the account's next sequence numbers, without gaps.
// The account's row of core.event_sequence is locked meanwhile, so any number of processes may do this at once.
import { boolArray, int8Array, textArray, timestampArray } from '../../db/arrays.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { fitData } from './wire.ts';

interface OutboxRow {
  readonly event_id: string;
  readonly type: string;
  readonly data: string;
  readonly request_id: string | null;
  readonly created_at: number;
}

const EVENTS_PER_TRANSACTION = 200;
const ACCOUNTS_PER_RUN = 200;

const findAccounts = statement(
  'event_find_outbox',
  `/* fan-out: accounts with events that have no number yet */
   SELECT account_id FROM core.event_outbox GROUP BY account_id LIMIT $1`,
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
  `DELETE FROM core.event_outbox WHERE account_id = $1 AND event_id = ANY($2::text[])`,
);

/** Numbers everything that the account's committed transactions have written so far. */
export async function sequenceAccount(db: Database, accountId: string): Promise<void> {
  for (;;) {
    const moved = await db.transaction((tx) => moveEvents(tx, accountId));
    if (moved < EVENTS_PER_TRANSACTION) return;
  }
}

/** One round over accounts with new events; answers true when there may be more. */
export async function sequenceEvents(db: Database, signal: AbortSignal): Promise<boolean> {
  const { rows } = await db.query<{ account_id: string }>(findAccounts, [ACCOUNTS_PER_RUN]);
  for (const { account_id } of rows) {
    if (signal.aborted) return false;
    await sequenceAccount(db, account_id);
  }
  return rows.length === ACCOUNTS_PER_RUN;
}

async function moveEvents(tx: Transaction, accountId: string): Promise<number> {
  const [, sequence, outbox] = await Promise.all([
    tx.query(openSequence, [accountId]),
    tx.query<{ last_sequence: bigint }>(lockSequence, [accountId]),
    tx.query<OutboxRow>(readOutbox, [accountId, EVENTS_PER_TRANSACTION]),
  ]);
  const events = outbox.rows;
  if (events.length === 0) return 0;
  const last = sequence.rows[0]?.last_sequence ?? 0n;
  const ids = textArray(events.map((event) => event.event_id));
  const [inserted] = await Promise.all([
    tx.query(insertEvents, [
      accountId,
      int8Array(events.map((_, i) => last + BigInt(i + 1))),
      ids,
      textArray(events.map((event) => event.type)),
      textArray(events.map((event) => fitData(event.data))),
      textArray(events.map((event) => event.request_id)),
      boolArray(events.map(() => false)),
      timestampArray(events.map((event) => event.created_at)),
    ]),
    tx.query(saveSequence, [accountId, last + BigInt(events.length)]),
    tx.query(deleteOutbox, [accountId, ids]),
  ]);
  if (inserted.count !== events.length) throw new Error(`${inserted.count} of ${events.length} events were numbered`);
  return events.length;
}
