// Socket subscribers of this process by account and channel, and delivery to them. A message to many is sent over several turns of the event
// loop.
import type { Deliveries, Delivery } from '../feed/delivery.ts';
import type { AccountFeed, Subscriber } from '../feed/feed.ts';
import { userChannel } from './channels.ts';
import { messageFrame } from './frames.ts';

/** One connection, as messages are delivered to it. */
export interface Connection {
  readonly socketId: string;
  send(frame: string | Buffer): void;
  /** Ends it by the will of the app. */
  terminate(): void;
}

export interface Subscription {
  readonly connection: Connection;
  /** Of a member of a presence channel. */
  readonly member: Member | null;
  /** Messages up to this one are part of what it was told when it subscribed. */
  sinceSeq: bigint;
  /** What has come before it was told who is there; null: it was told. */
  pending: Delivered[] | null;
}

export interface Member {
  readonly userId: string;
  /** JSON text. */
  readonly userInfo: string;
}

interface Delivered {
  readonly seq: bigint;
  readonly frame: Buffer;
}

/** A user in a presence channel. */
interface Presence {
  userInfo: string;
  subscriptions: number;
  /** Since when there are none (performance.now()). */
  leftMs: number;
}

/** A message in the channel of a user: its connections are to be closed. */
export const TERMINATE = 'pusher_internal:terminate';
/** Of one subscription, until it is told who is there. Beyond, it ends. */
const PENDING_MAX = 1_000;

/** A channel with subscribers here, or that had some until just now. */
export class Room implements Subscriber {
  readonly subscriptions = new Set<Subscription>();
  readonly members = new Map<string, Presence>();
  /** Since when nobody has subscribed to it. */
  emptyMs = performance.now();
  readonly #slices: Deliveries['slices'];

  constructor({ slices }: Deliveries) {
    this.#slices = slices;
  }

  async deliver(delivery: Delivery): Promise<void> {
    const { seq, socketId, event } = delivery.message;
    if (event === TERMINATE) return;
    const frame = delivery.as(messageFrame);
    for (const subscription of this.subscriptions) {
      if (this.#slices.isOver) await this.#slices.next();
      if (seq <= subscription.sinceSeq || subscription.connection.socketId === socketId) continue;
      if (subscription.pending === null) subscription.connection.send(frame);
      else if (subscription.pending.length < PENDING_MAX) subscription.pending.push({ seq, frame });
      else subscription.connection.terminate();
    }
  }
}

/** The connections of one user, who has signed in on them or is a member by them. */
class UserConnections implements Subscriber {
  readonly connections = new Set<Connection>();

  deliver({ message }: Delivery): void {
    if (message.event === TERMINATE) for (const connection of [...this.connections]) connection.terminate();
  }
}

/** What an account has here. */
interface AccountHub {
  readonly rooms: Map<string, Room>;
  readonly users: Map<string, UserConnections>;
}

export class Hub {
  readonly #accounts = new Map<string, AccountHub>();

  /** Every channel with a room, by account. */
  *rooms(): Generator<readonly [accountId: string, channel: string]> {
    for (const [accountId, { rooms }] of this.#accounts) for (const channel of rooms.keys()) yield [accountId, channel];
  }

  room(accountId: string, channel: string): Room | undefined {
    return this.#accounts.get(accountId)?.rooms.get(channel);
  }

  /** True: it is the first one of the channel, or of its user there. */
  add(feed: AccountFeed, channel: string, subscription: Subscription): boolean {
    const { rooms } = this.#account(feed.accountId);
    const room = rooms.get(channel) ?? new Room(feed.deliveries);
    rooms.set(channel, room);
    room.subscriptions.add(subscription);
    const isFirst = room.subscriptions.size === 1;
    if (isFirst) feed.subscribe(channel, room);
    const { member } = subscription;
    if (member === null) return isFirst;
    const presence = room.members.get(member.userId) ?? { userInfo: member.userInfo, subscriptions: 0, leftMs: 0 };
    room.members.set(member.userId, presence);
    presence.userInfo = member.userInfo;
    presence.subscriptions += 1;
    return presence.subscriptions === 1;
  }

  /** True: it was the last one of the channel, or of its user there. The room stays until `drop`. */
  remove(feed: AccountFeed, channel: string, subscription: Subscription): boolean {
    const room = this.room(feed.accountId, channel);
    if (room?.subscriptions.delete(subscription) !== true) return false;
    const isLast = room.subscriptions.size === 0;
    if (isLast) {
      room.emptyMs = performance.now();
      feed.unsubscribe(channel, room);
    }
    const presence = subscription.member === null ? undefined : room.members.get(subscription.member.userId);
    if (presence === undefined) return isLast;
    presence.subscriptions -= 1;
    if (presence.subscriptions > 0) return isLast;
    presence.leftMs = performance.now();
    return true;
  }

  /** Forgets the room, if nobody has come back. */
  drop(accountId: string, channel: string): void {
    const account = this.#accounts.get(accountId);
    if (account?.rooms.get(channel)?.subscriptions.size !== 0) return;
    account.rooms.delete(channel);
    this.#forget(accountId, account);
  }

  /** From now on the connection ends with those of the user. */
  addUser(feed: AccountFeed, userId: string, connection: Connection): void {
    const { users } = this.#account(feed.accountId);
    const user = users.get(userId) ?? new UserConnections();
    users.set(userId, user);
    if (user.connections.size === 0) feed.subscribe(userChannel(userId), user);
    user.connections.add(connection);
  }

  removeUser(feed: AccountFeed, userId: string, connection: Connection): void {
    const account = this.#accounts.get(feed.accountId);
    const user = account?.users.get(userId);
    if (account === undefined || user?.connections.delete(connection) !== true || user.connections.size > 0) return;
    feed.unsubscribe(userChannel(userId), user);
    account.users.delete(userId);
    this.#forget(feed.accountId, account);
  }

  #account(accountId: string): AccountHub {
    const account = this.#accounts.get(accountId) ?? { rooms: new Map(), users: new Map() };
    this.#accounts.set(accountId, account);
    return account;
  }

  #forget(accountId: string, { rooms, users }: AccountHub): void {
    if (rooms.size === 0 && users.size === 0) this.#accounts.delete(accountId);
  }
}

/** It was told who is there as of `seq`: what has come since follows. */
export function begin(subscription: Subscription, seq: bigint): void {
  const { pending, connection } = subscription;
  subscription.sinceSeq = seq;
  subscription.pending = null;
  for (const delivered of pending ?? []) if (delivered.seq > seq) connection.send(delivered.frame);
}
