// SQL of messages: written in the commit that charges for them, read in the account's sequence.
import { int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { Message } from './message.ts';

export interface MessageRow extends Omit<Message, 'data'> {
  readonly accountId: string;
  /** Null: that of the row `dataSeq`. */
  readonly data: string | null;
  readonly dataSeq: bigint | null;
}

const ROWS = `unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[])
            u(account_id, seq, channel, event, data, data_seq, socket_id, user_id)`;
const insertMessages = statement(
  'realtime_insert_message',
  `INSERT INTO realtime.message AS m (account_id, seq, channel, event, data, data_seq, socket_id, user_id)
   SELECT w.account_id, u.seq, u.channel, u.event, u.data, u.data_seq, u.socket_id, u.user_id
     FROM core.wallet w, ${ROWS}
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const insertKeptMessages = statement(
  'realtime_insert_kept_message',
  `INSERT INTO realtime.kept_message AS m (account_id, seq, channel, event, data, data_seq, socket_id, user_id)
   SELECT w.account_id, u.seq, u.channel, u.event, u.data, u.data_seq, u.socket_id, u.user_id
     FROM core.wallet w, ${ROWS}
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

/** Sends the rows; `isKept`: those of accounts whose history is long. */
export function sendMessages(tx: Queryable, rows: readonly MessageRow[], isKept: boolean): void {
  if (rows.length === 0) return;
  const accounts = [...new Set(rows.map(({ accountId }) => accountId))].sort();
  void tx.query(isKept ? insertKeptMessages : insertMessages, [
    textArray(accounts),
    textArray(rows.map(({ accountId }) => accountId)),
    int8Array(rows.map(({ seq }) => seq)),
    textArray(rows.map(({ channel }) => channel)),
    textArray(rows.map(({ event }) => event)),
    textArray(rows.map(({ data }) => data)),
    int8Array(rows.map(({ dataSeq }) => dataSeq)),
    textArray(rows.map(({ socketId }) => socketId)),
    textArray(rows.map(({ userId }) => userId)),
  ]);
}

const columnsOf = (table: string) => `m.seq, m.channel, m.event, m.socket_id, m.user_id,
          coalesce(m.data, (SELECT d.data FROM realtime.${table} d WHERE d.account_id = $1 AND d.seq = m.data_seq)) AS data`;

const readNew = statement(
  'realtime_read_new',
  `SELECT ${columnsOf('message')}
     FROM realtime.message m
    WHERE m.account_id = $1 AND m.seq > $2
    ORDER BY m.seq
    LIMIT $3`,
);
const readLast = statement(
  'realtime_read_last',
  'SELECT m.seq FROM realtime.message m WHERE m.account_id = $1 ORDER BY m.seq DESC LIMIT 1',
);
/** What processes tell one another is no part of the history. */
const OF_SPAN = `m.channel = ANY($2::text[]) AND m.seq > $3 AND m.seq <= $4 AND NOT starts_with(m.event, 'pusher_internal:')`;
const readMessages = statement(
  'realtime_read_message',
  `SELECT ${columnsOf('message')}
     FROM realtime.message m
    WHERE m.account_id = $1 AND ${OF_SPAN}
    ORDER BY m.seq
    LIMIT $5`,
);
const readKept = statement(
  'realtime_read_kept_message',
  `SELECT ${columnsOf('kept_message')}
     FROM realtime.kept_message m
    WHERE m.account_id = $1 AND ${OF_SPAN}
    ORDER BY m.seq
    LIMIT $5`,
);
const findUnread = statement(
  'realtime_find_unread',
  `SELECT m.account_id
     FROM unnest($2::text[], $3::bigint[]) u(account_id, seq), realtime.message m
    WHERE m.account_id = ANY($1::text[]) AND m.account_id = u.account_id AND m.seq > u.seq
    GROUP BY m.account_id`,
);

interface Read {
  readonly seq: bigint;
  readonly channel: string;
  readonly event: string;
  readonly data: string;
  readonly socket_id: string | null;
  readonly user_id: string | null;
}

const messageOf = ({ socket_id: socketId, user_id: userId, ...rest }: Read): Message => ({ ...rest, socketId, userId });

/** All messages of the account behind `after`, in their order. All before the last one are there: the sequence is that of the commits. */
export async function readNewMessages(
  db: Queryable,
  accountId: string,
  after: bigint,
  limit: number,
): Promise<Message[]> {
  return (await db.query<Read>(readNew, [accountId, after, limit])).rows.map(messageOf);
}

/** Number of the account's last message of which there is a row; 0: there is none. */
export async function readLastSeq(db: Queryable, accountId: string): Promise<bigint> {
  return (await db.query<{ seq: bigint }>(readLast, [accountId])).rows[0]?.seq ?? 0n;
}

export interface Span {
  readonly channels: readonly string[];
  /** Messages behind this number, */
  readonly after: bigint;
  /** up to this one. */
  readonly upTo: bigint;
  readonly limit: number;
}

/** Messages of some channels, in their order. `where`: of which of the two tables. */
export async function readSpan(
  db: Queryable,
  accountId: string,
  { channels, after, upTo, limit }: Span,
  where: 'near' | 'kept',
): Promise<Message[]> {
  const values = [accountId, textArray(channels), after, upTo, limit];
  return (await db.query<Read>(where === 'near' ? readMessages : readKept, values)).rows.map(messageOf);
}

/** Which of the accounts have messages behind their positions. At least one account. */
export async function findUnreadAccounts(
  db: Queryable,
  positions: readonly { readonly accountId: string; readonly position: bigint }[],
): Promise<string[]> {
  const accounts = textArray(positions.map(({ accountId }) => accountId));
  const { rows } = await db.query<{ account_id: string }>(findUnread, [
    accounts,
    accounts,
    int8Array(positions.map(({ position }) => position)),
  ]);
  return rows.map(({ account_id: accountId }) => accountId);
}
