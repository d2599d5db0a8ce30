// SQL of occupancy and members over all processes, for listings.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

const listChannels = statement(
  'realtime_list_channels',
  `SELECT o.channel, sum(o.subscriptions)::integer AS subscriptions
     FROM realtime.occupancy o
    WHERE o.account_id = $1 AND o.channel > $2 AND o.channel >= $3 AND o.channel < $4
    GROUP BY o.channel ORDER BY o.channel LIMIT $5`,
);
const countSubscriptions = statement(
  'realtime_count_subscriptions',
  `SELECT o.channel, sum(o.subscriptions)::integer AS subscriptions
     FROM realtime.occupancy o
    WHERE o.account_id = $1 AND o.channel = ANY($2::text[]) GROUP BY o.channel`,
);
const countUsers = statement(
  'realtime_count_users',
  `SELECT p.channel, count(DISTINCT p.user_id)::integer AS users
     FROM realtime.presence p
    WHERE p.account_id = $1 AND p.channel = ANY($2::text[]) GROUP BY p.channel`,
);
const listMembers = statement(
  'realtime_list_members',
  `SELECT p.user_id, min(p.user_info) AS user_info
     FROM realtime.presence p
    WHERE p.account_id = $1 AND p.channel = $2 AND p.user_id > $3
    GROUP BY p.user_id ORDER BY p.user_id LIMIT $4`,
);

/** Behind every character that names of channels have. */
const LAST = '~';

export interface ChannelState {
  readonly channel: string;
  readonly subscriptions: number;
  /** Null: no presence channel. */
  readonly users: number | null;
}

/** Occupied channels by name, behind `after`. */
export async function occupiedChannels(
  db: Queryable,
  accountId: string,
  { prefix, after, limit }: { readonly prefix: string; readonly after: string; readonly limit: number },
): Promise<ChannelState[]> {
  type Row = Omit<ChannelState, 'users'>;
  const { rows } = await db.query<Row>(listChannels, [accountId, after, prefix, prefix + LAST, limit]);
  return withUsers(db, accountId, rows);
}

/** The state of each of the channels, in their order; of one that nobody has subscribed to, 0. */
export async function channelStates(
  db: Queryable,
  accountId: string,
  channels: readonly string[],
): Promise<ChannelState[]> {
  type Row = Omit<ChannelState, 'users'>;
  const { rows } = await db.query<Row>(countSubscriptions, [accountId, textArray(channels)]);
  const found = new Map(rows.map((row) => [row.channel, row.subscriptions]));
  const all = channels.map((channel) => ({ channel, subscriptions: found.get(channel) ?? 0 }));
  return withUsers(db, accountId, all);
}

/** Members of a presence channel by user id, behind `after`. user_info: JSON text. */
export async function membersOf(
  db: Queryable,
  accountId: string,
  channel: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly { readonly user_id: string; readonly user_info: string }[]> {
  type Row = { readonly user_id: string; readonly user_info: string };
  return (await db.query<Row>(listMembers, [accountId, channel, after, limit])).rows;
}

async function withUsers(db: Queryable, accountId: string, rows: readonly Omit<ChannelState, 'users'>[]) {
  const presence = rows.map(({ channel }) => channel).filter((channel) => channel.startsWith('presence-'));
  type Row = { readonly channel: string; readonly users: number };
  const counted = presence.length === 0 ? [] : (await db.query<Row>(countUsers, [accountId, textArray(presence)])).rows;
  const users = new Map(counted.map((row) => [row.channel, row.users]));
  return rows.map((row) => {
    const isPresence = row.channel.startsWith('presence-');
    return {
      channel: row.channel,
      subscriptions: row.subscriptions,
      users: isPresence ? (users.get(row.channel) ?? 0) : null,
    };
  });
}
