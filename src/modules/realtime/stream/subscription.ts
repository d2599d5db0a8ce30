// One stream of messages: what was missed since its last event, from the tables, and then what comes, in one order and without a gap.
import type { Queryable } from '../../../db/database.ts';
import { eventText } from '../../../lib/event-stream.ts';
import { sequenceAt, sequenceMs } from '../../../lib/sequence.ts';
import { iso } from '../../../lib/time.ts';
import type { AccountFeed, Subscriber } from '../feed/feed.ts';
import { NEAR_HISTORY_MS, UNREAD_BYTES_MAX } from '../limits.ts';
import { isOwnMessage } from '../presence/messages.ts';
import { type Message, messageId } from '../publish/message.ts';
import { readSpan } from '../publish/store.ts';

const ROWS_PER_READING = 100;

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

/** A message as a stream tells it. `fields`: further ones of its JSON. */
export function messageEvent(message: Message): string {
  return eventText({ id: messageId(message.seq), data: messageJson(message) });
}

export function messageJson({ seq, channel, event, data, userId }: Message): string {
  const sender = `,"user_id":${JSON.stringify(userId)}`;
  const head = `{"message_id":"${messageId(seq)}","channel":"${channel}","event":${JSON.stringify(event)}`;
  return `${head},"data":${data}${sender},"published_at":"${iso(sequenceMs(seq))}"}`;
}

export class StreamSubscription implements Subscriber {
  readonly #db: Queryable;
  readonly #feed: AccountFeed;
  readonly #channels: readonly string[];
  /** What it has seen elsewhere: the feed of this process may be behind that. */
  readonly #seen: bigint;
  #waiting: string[] = [];
  #bytes = 0;
  #wake = Promise.withResolvers<void>();
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

  deliver(message: Message): void {
    if (this.isTooSlow || message.seq <= this.#seen || isOwnMessage(message)) return;
    const text = messageEvent(message);
    this.#bytes += text.length;
    this.#waiting.push(text);
    if (this.#bytes > UNREAD_BYTES_MAX) {
      this.isTooSlow = true;
      this.#waiting = [];
    }
    this.#wake.resolve();
  }

  /** What was published behind `after` and before it subscribed. Called first, once. */
  async *missed(after: bigint, upTo: bigint, nowMs: number): AsyncGenerator<string> {
    const span = { channels: this.#channels, after, upTo, nowMs };
    for await (const page of readHistory(this.#db, this.#feed.accountId, span, ROWS_PER_READING)) {
      yield page.map(messageEvent).join('');
    }
  }

  /** What has come since the last call; empty when nothing came within `ms`. */
  async next(ms: number): Promise<string> {
    if (this.#waiting.length === 0 && !this.isTooSlow) {
      this.#wake = Promise.withResolvers();
      const timer = setTimeout(() => this.#wake.resolve(), ms);
      await this.#wake.promise;
      clearTimeout(timer);
    }
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#bytes = 0;
    return text;
  }

  end(): void {
    for (const channel of this.#channels) this.#feed.unsubscribe(channel, this);
    this.#wake.resolve();
  }
}
