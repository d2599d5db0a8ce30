// Message feeds of this process, one per account with a subscriber here. A feed reads the account's rows in sequence order, whichever process
// published them. Every message goes to each subscriber of its channel once.
import type { Queryable } from '../../../db/database.ts';
import type { Message } from '../publish/message.ts';
import { readLastSeq, readNewMessages } from '../publish/store.ts';
import { type Deliveries, Delivery } from './delivery.ts';

/** Rows of one reading; more are read at once. */
const ROWS_PER_READING = 256;
const FAILED_PAUSE_MS = 200;

export interface Subscriber {
  /** Called with messages of its channels, in their order: while it returns a promise, the account gets no further one. Must not throw. */
  deliver(delivery: Delivery): void | Promise<void>;
}

/** The subscriptions of one account in this process. */
export class AccountFeed {
  readonly accountId: string;
  readonly deliveries: Deliveries;
  /** Everything up to this number was delivered. */
  position: bigint;
  readonly channels = new Map<string, Set<Subscriber>>();
  isReading = false;
  /** Something was published since the reading under way began. */
  isStale = false;
  lastReadMs = 0;

  constructor(accountId: string, position: bigint, deliveries: Deliveries) {
    this.accountId = accountId;
    this.position = position;
    this.deliveries = deliveries;
  }

  /** From now on the subscriber gets what is behind `position`. Answers false when it had the channel already. */
  subscribe(channel: string, subscriber: Subscriber): boolean {
    const subscribers = this.channels.get(channel);
    if (subscribers === undefined) this.channels.set(channel, new Set([subscriber]));
    else if (subscribers.has(subscriber)) return false;
    else subscribers.add(subscriber);
    return true;
  }

  unsubscribe(channel: string, subscriber: Subscriber): void {
    const subscribers = this.channels.get(channel);
    if (subscribers?.delete(subscriber) === true && subscribers.size === 0) this.channels.delete(channel);
  }

  async deliver(message: Message): Promise<void> {
    this.position = message.seq;
    const delivery = new Delivery(message);
    const { slices } = this.deliveries;
    // Who subscribes meanwhile does so behind this message.
    for (const subscriber of [...(this.channels.get(message.channel) ?? [])]) {
      if (slices.isOver) await slices.next();
      const delivered = subscriber.deliver(delivery);
      if (delivered !== undefined) await delivered;
    }
  }
}

interface Open {
  readonly feed: Promise<AccountFeed>;
  users: number;
}

export interface FeedOptions {
  readonly db: Queryable;
  readonly deliveries: Deliveries;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

export class Feeds {
  readonly #options: FeedOptions;
  readonly #open = new Map<string, Open>();
  readonly #feeds = new Map<string, AccountFeed>();
  #isClosed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** The feed of an account, for one who listens; `leave` must be called once for each call of this. */
  async enter(accountId: string): Promise<AccountFeed> {
    const open = this.#open.get(accountId) ?? this.#begin(accountId);
    open.users += 1;
    try {
      return await open.feed;
    } catch (error) {
      this.leave(accountId);
      throw error;
    }
  }

  leave(accountId: string): void {
    const open = this.#open.get(accountId);
    if (open === undefined) return;
    open.users -= 1;
    if (open.users > 0) return;
    this.#open.delete(accountId);
    this.#feeds.delete(accountId);
  }

  /** Something may have been published: what is new is read and delivered. */
  wake(accountId: string): void {
    const feed = this.#feeds.get(accountId);
    if (feed === undefined) return;
    if (feed.isReading) feed.isStale = true;
    else void this.#read(feed);
  }

  /** Feeds that nothing has been read of since `sinceMs`. */
  idle(sinceMs: number): AccountFeed[] {
    return [...this.#feeds.values()].filter(({ isReading, lastReadMs }) => !isReading && lastReadMs < sinceMs);
  }

  get(accountId: string): AccountFeed | undefined {
    return this.#feeds.get(accountId);
  }

  all(): Iterable<AccountFeed> {
    return this.#feeds.values();
  }

  get size(): number {
    return this.#feeds.size;
  }

  close(): void {
    this.#isClosed = true;
  }

  #begin(accountId: string): Open {
    const feed = readLastSeq(this.#options.db, accountId).then((position) => {
      const begun = new AccountFeed(accountId, position, this.#options.deliveries);
      if (this.#open.get(accountId) === open) this.#feeds.set(accountId, begun);
      // A message that was published meanwhile has woken nobody.
      this.wake(accountId);
      return begun;
    });
    const open: Open = { feed, users: 0 };
    this.#open.set(accountId, open);
    return open;
  }

  async #read(feed: AccountFeed): Promise<void> {
    const { db, now, onError } = this.#options;
    feed.isReading = true;
    try {
      for (let isMore = true; isMore && this.#feeds.get(feed.accountId) === feed; ) {
        feed.isStale = false;
        feed.lastReadMs = now();
        const messages = await readNewMessages(db, feed.accountId, feed.position, ROWS_PER_READING);
        for (const message of messages) await feed.deliver(message);
        isMore = feed.isStale || messages.length === ROWS_PER_READING;
      }
    } catch (error) {
      // The database is away: what is missed is read as soon as it answers.
      onError(error);
      if (!this.#isClosed) setTimeout(() => this.wake(feed.accountId), FAILED_PAUSE_MS).unref();
    } finally {
      feed.isReading = false;
    }
  }
}
