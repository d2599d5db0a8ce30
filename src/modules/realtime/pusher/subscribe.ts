// Subscribing to a channel: authorization, and the first frames that the connection gets.

import { nestingDepth } from '../../../lib/json-source.ts';
import { memberInfo } from '../presence/member.ts';
import { isUserId, socketChannel } from './channels.ts';
import { codes } from './close-codes.ts';
import { messageFrame, objectOf, ownFrame } from './frames.ts';
import { begin, type Member, type Subscription } from './hub.ts';
import { lastMessage } from './last-message.ts';
import { channelAuth, isSame, type SignedApp } from './signatures.ts';
import { isProven, type Session } from './wire.ts';

/** Of a member, beside its id. */
const USER_INFO_BYTES_MAX = 2 * 1024;
const USER_INFO_NESTING_MAX = 16;

interface Asked {
  readonly channel: string;
  readonly auth: unknown;
  readonly channelData: unknown;
}

export async function subscribe(connection: Session, asked: Asked): Promise<void> {
  const { channel } = asked;
  const kind = socketChannel(channel);
  if (kind === null) return refuseAuth(connection, channel.slice(0, 200), 'No channel has this name.');
  if (kind.userId !== null && kind.userId !== connection.userId)
    return refuseAuth(connection, channel, 'The user of this channel has not signed in on this connection.');
  if (kind.isPrivate) {
    const data = kind.isPresence && typeof asked.channelData === 'string' ? asked.channelData : undefined;
    const isRight = (app: SignedApp) => isSame(channelAuth(app, connection.socketId, channel, data), asked.auth);
    if (!(await isProven(connection.wire, isRight)))
      return refuseAuth(connection, channel, `The signature for ${channel} is not right.`);
  }
  const member = kind.isPresence ? memberOf(asked.channelData, connection) : null;
  if (typeof member === 'string') return refuseAuth(connection, channel, member);
  if (connection.isClosed) return;
  const subscription: Subscription = { connection, member, sinceSeq: 0n, pending: kind.isPresence ? [] : null };
  connection.subscriptions.set(channel, subscription);
  const { hub, occupancy } = connection.wire.state;
  const isFirst = hub.add(connection.wire.feed, channel, subscription);
  if (member !== null) {
    hub.addUser(connection.wire.feed, member.userId, connection);
    // Other members do not wait for this one: the connection goes on, too.
    void joinPresence(connection, channel, subscription, member);
    return;
  }
  connection.send(ownFrame('pusher_internal:subscription_succeeded', {}, channel));
  if (kind.userId !== null) return;
  if (isFirst) occupancy.writeSoon(connection.wire.feed.accountId, channel);
  else occupancy.countChanged(connection.wire.feed.accountId, channel);
  if (kind.isCache) await sendLast(connection, channel, subscription);
}

function refuseAuth(connection: Session, channel: string, message: string): void {
  connection.refuse(channel, 'AuthError', codes.unauthorized, message);
}

/** Who joins, by what was signed, or else by who has signed in. A string: why nobody does. */
function memberOf(channelData: unknown, { userId: signedIn }: Session): Member | string {
  if (channelData === undefined && signedIn !== null) return { userId: signedIn, userInfo: '{}' };
  if (typeof channelData !== 'string') return 'A presence channel needs channel_data, or a user who has signed in.';
  if (nestingDepth(channelData) > USER_INFO_NESTING_MAX) return 'channel_data is nested too deeply.';
  const { user_id: id, user_info: info = {} } = objectOf(channelData);
  const userId = typeof id === 'number' ? String(id) : id;
  if (!isUserId(userId)) return 'channel_data must hold user_id, of 1 to 128 characters.';
  const userInfo = JSON.stringify(info);
  if (Buffer.byteLength(userInfo) > USER_INFO_BYTES_MAX) return `user_info has at most ${USER_INFO_BYTES_MAX} bytes.`;
  return { userId, userInfo: memberInfo(id as string | number, userInfo) };
}

/** Tells who is there once its row is written, and then what has come since. */
async function joinPresence(
  connection: Session,
  channel: string,
  subscription: Subscription,
  member: Member,
): Promise<void> {
  const { occupancy, core } = connection.wire.state;
  try {
    const there = await occupancy.write(connection.wire.feed.accountId, channel);
    if (connection.subscriptions.get(channel) !== subscription) return;
    if (there.isRefused(member.userId)) {
      connection.leave(channel);
      return connection.refuse(channel, 'LimitReached', codes.overQuota, 'The presence channel is full.');
    }
    connection.send(there.frame);
    begin(subscription, there.seq);
    if (socketChannel(channel)?.isCache === true) await sendLast(connection, channel, subscription);
  } catch (err) {
    if (connection.subscriptions.get(channel) !== subscription) return;
    core.log.warn({ err }, 'a member could not join');
    connection.leave(channel);
    connection.refuse(channel, 'ServiceError', codes.overCapacity, 'The service could not do this now. Try again.');
  }
}

/** The last message of a cache channel, unless a newer one is on its way already. */
async function sendLast(connection: Session, channel: string, subscription: Subscription): Promise<void> {
  const last = await lastMessage(connection.wire.state.core.db, connection.wire.feed.accountId, channel);
  if (connection.subscriptions.get(channel) !== subscription) return;
  if (last === null) connection.send(JSON.stringify({ event: 'pusher:cache_miss', channel, data: '{}' }));
  else if (last.seq > subscription.sinceSeq || subscription.member !== null) connection.send(messageFrame(last));
}
