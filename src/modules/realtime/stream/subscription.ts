// One stream's messages: those missed since its last event, read from the tables, then live ones; in one order and without a gap.
import type { Queryable } from '../../../db/database.ts';
import { eventText } from '../../../lib/event-stream.ts';
import { sequenceAt, sequenceMs } from '../../../lib/sequence.ts';
import { iso } from '../../../lib/time.ts';
import type { Delivery } from '../feed/delivery.ts';
import type { AccountFeed, Subscriber } from '../feed/feed.ts';
import { MESSAGE_BYTES, NEAR_HISTORY_MS, UNREAD_BYTES_MAX } from '../limits.ts';
import { isOwnMessage } from '../presence/messages.ts';
import { type Message, messageId } from '../publish/message.ts';
import { readSpan } from '../publish/store.ts';

/** Of what was missed: a stream whose client reads nothing holds no more of it. */
const ROWS_PER_READING = 20;
/** Shorter messages go out together. */
const PIECE_BYTES = 16 * 1024;

/** Messages of the account's history behind `after` and up to `upTo`, page by page. */
export async function* readHistory(
  db: Queryable,
  accountId: string,
  span: { readonly channels: readonly string[]; readonly after: bigint; readonly upTo: bigint; readonly nowMs: number },
  limit: number,
): AsyncGenerator<readonly Message[]> {
  const { channels, upTo, nowMs } = span;
  // An hour stands in one table, what is older in the other.
  const border = sequenceAt(nowMs - NEAR_HISTORY_MS);
  let after = span.after;
  for (let where: 'near' | 'kept' = after < border ? 'kept' : 'near'; ; ) {
    const end = where === 'kept' && border < upTo ? border : upTo;
    const page = await readSpan(db, accountId, { channels, after, upTo: end, limit }, where);
    if (page.length > 0) yield page;
    if (page.length === limit) after = page.at(-1)?.seq ?? end;
    else if (where === 'near') return;
    else {
      where = 'near';
      if (after < border) after = border;
      if (border >= upTo) return;
    }
  }
}

/** A message as a stream tells it. */
function eventBytes(message: Message): Buffer {
  return Buffer.from(eventText({ id: messageId(message.seq), data: messageJson(message) }));
}

export function messageJson({ seq, channel, event, data, userId }: Message): string {
  const sender = `,"user_id":${JSON.stringify(userId)}`;
  const head = `{"message_id":"${messageId(seq)}","channel":"${channel}","event":${JSON.stringify(event)}`;
  return `${head},"data":${data}${sender},"published_at":"${iso(sequenceMs(seq))}"}`;
}

function heldBytes(delivery: Delivery): number {
  return delivery.as(eventBytes).length + MESSAGE_BYTES;
}

export class StreamSubscription implements Subscriber {
  readonly #db: Queryable;
  readonly #feed: AccountFeed;
  readonly #channels: readonly string[];
  /** What it has seen elsewhere: the feed of this process may be behind that. */
  readonly #seen: bigint;
  /** What has come and was not taken yet: bytes that all streams share. */
  readonly #waiting: Delivery[] = [];
  #bytes = 0;
  /** Wakes the reader, who waits for something to come. */
  #wake: (() => void) | null = null;
  #isEnded = false;
  /** It has more to read than a stream may have: it is ended, and comes again with its last event. */
  isTooSlow = false;

  /** `seen`: number of the last message that its reader got. */
  constructor(db: Queryable, feed: AccountFeed, channels: readonly string[], seen: bigint) {
    this.#db = db;
    this.#feed = feed;
    this.#channels = channels;
    this.#seen = seen;
    for (const channel of channels) feed.subscribe(channel, this);
  }

  deliver(delivery: Delivery): void {
    const { message } = delivery;
    if (this.#isEnded || this.isTooSlow || message.seq <= this.#seen || isOwnMessage(message)) return;
    const held = heldBytes(delivery);
    const isRoom = this.#bytes + held <= UNREAD_BYTES_MAX;
    if (isRoom && this.#feed.deliveries.hold(this.#feed.accountId, delivery, held)) {
      this.#bytes += held;
      this.#waiting.push(delivery);
    } else {
      this.isTooSlow = true;
      this.#drop();
    }
    this.#wakeInTurn();
  }

  /** What was published behind `after` and before it subscribed. Called first, once. */
  async *missedEvents(after: bigint, upTo: bigint, nowMs: number): AsyncGenerator<Buffer> {
    const span = { channels: this.#channels, after, upTo, nowMs };
    const { slices } = this.#feed.deliveries;
    for await (const page of readHistory(this.#db, this.#feed.accountId, span, ROWS_PER_READING)) {
      if (slices.isOver) await slices.next();
      yield Buffer.concat(page.map(eventBytes));
    }
  }

  /** The next pieces of what has come; null when nothing came within `ms`, or it has ended. */
  async next(ms: number): Promise<Buffer | null> {
    if (this.#waiting.length === 0 && !this.isTooSlow && !this.#isEnded) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, ms);
      await promise;
      clearTimeout(timer);
      this.#wake = null;
    }
    const pieces: Buffer[] = [];
    for (let length = 0; length < PIECE_BYTES && this.#waiting.length > 0; ) {
      const piece = this.#take(this.#waiting.shift() as Delivery);
      length += piece.length;
      pieces.push(piece);
    }
    // One alone goes out as all streams have it, without a copy.
    return pieces.length > 1 ? Buffer.concat(pieces) : (pieces[0] ?? null);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const channel of this.#channels) this.#feed.unsubscribe(channel, this);
    this.#drop();
    this.#wake?.();
  }

  /** Its reader writes in a slice of its own: a message for hundreds of streams is not written to all of them in one turn. */
  #wakeInTurn(): void {
    const wake = this.#wake;
    if (wake === null) return;
    this.#wake = null;
    void this.#feed.deliveries.slices.next().then(wake);
  }

  #take(delivery: Delivery): Buffer {
    const held = heldBytes(delivery);
    this.#bytes -= held;
    this.#feed.deliveries.letGo(this.#feed.accountId, delivery, held);
    return delivery.as(eventBytes);
  }

  #drop(): void {
    for (const delivery of this.#waiting.splice(0)) this.#take(delivery);
  }
}
