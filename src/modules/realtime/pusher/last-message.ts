// SQL of a channel's last message, which new subscribers of a cache channel get.

import { clockNow } from '../../../core/database-clock.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { sequenceAt } from '../../../lib/sequence.ts';
import { historySecondsOf } from '../app/settings.ts';
import type { Message } from '../publish/message.ts';

const lastNear = statement(
  'realtime_last_message',
  `SELECT m.seq, m.channel, m.event, m.socket_id, m.user_id,
          coalesce(m.data, (SELECT d.data FROM realtime.message d WHERE d.account_id = $1 AND d.seq = m.data_seq)) AS data
     FROM realtime.message m
    WHERE m.account_id = $1 AND m.channel = $2 AND m.seq > $3 AND NOT starts_with(m.event, 'pusher_internal:')
    ORDER BY m.seq DESC LIMIT 1`,
);
const lastKept = statement(
  'realtime_last_kept_message',
  `SELECT m.seq, m.channel, m.event, m.socket_id, m.user_id,
          coalesce(m.data, (SELECT d.data FROM realtime.kept_message d WHERE d.account_id = $1 AND d.seq = m.data_seq)) AS data
     FROM realtime.kept_message m
    WHERE m.account_id = $1 AND m.channel = $2 AND m.seq > $3 AND NOT starts_with(m.event, 'pusher_internal:')
    ORDER BY m.seq DESC LIMIT 1`,
);

interface Read extends Omit<Message, 'socketId' | 'userId'> {
  readonly socket_id: string | null;
  readonly user_id: string | null;
}

/** Null: nothing of the channel is in the account's history. */
export async function lastMessage(db: Queryable, accountId: string, channel: string): Promise<Message | null> {
  const [nowMs, seconds] = await Promise.all([clockNow(db), historySecondsOf(db, accountId)]);
  const values = [accountId, channel, sequenceAt(nowMs - seconds * 1_000)];
  const found = (await db.query<Read>(lastNear, values)).rows[0] ?? (await db.query<Read>(lastKept, values)).rows[0];
  if (found === undefined) return null;
  const { socket_id: socketId, user_id: userId, ...rest } = found;
  return { ...rest, socketId, userId };
}
