// Publishers and consumers that keep their own books while the service is being killed under them.

import { setTimeout as sleep } from 'node:timers/promises';

export interface Books {
  /** What a publish was answered: id of the content to id of the message. */
  readonly accepted: Map<string, string>;
  /** Contents whose publish got no answer, or one that does not say what happened; sent once, without a key. */
  readonly unknown: Set<string>;
  /** Contents published under an idempotency key. */
  readonly keyed: Set<string>;
  /** Every message delivered: id to content. */
  readonly seen: Map<string, string>;
  /** The highest delivery count that a message was delivered with. */
  readonly deliveries: Map<string, number>;
  /** Acknowledged messages with the delivery count of the delivery that was acknowledged. */
  readonly acked: Map<string, number>;
  /** An acknowledgement without an answer: the message may be gone. */
  readonly maybeAcked: Set<string>;
  /** Answers that should not be: neither success nor an outage. */
  readonly surprises: string[];
  /** When (performance.now()) a publish was last answered with success, and the longest time without. */
  lastSuccessMs: number;
  longestGapMs: number;
}

export interface Target {
  readonly url: string;
  readonly key: string;
  readonly queue: string;
}

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of several capabilities
  readonly data: any;
  readonly error: unknown;
}

const RETRY_PAUSE_MS = 50;
const PUBLISH_PAUSE_MS = 8;
const VISIBILITY_SECONDS = 4;

export function newBooks(): Books {
  const maps = { accepted: new Map(), seen: new Map(), deliveries: new Map(), acked: new Map() };
  const sets = { unknown: new Set<string>(), keyed: new Set<string>(), maybeAcked: new Set<string>() };
  return { ...maps, ...sets, surprises: [], lastSuccessMs: performance.now(), longestGapMs: 0 };
}

/** Null when there was no answer, or one that leaves the outcome open (5xx). */
async function call({ url, key }: Target, path: string, body: object): Promise<Reply | null> {
  try {
    const response = await fetch(`${url}/v1/queue/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const { data, error } = (await response.json()) as { data: unknown; error: unknown };
    return response.status >= 500 ? null : { status: response.status, data, error };
  } catch {
    return null;
  }
}

/** Publishes until stopped: every second message under an idempotency key, and those again until their outcome is known. */
export async function publish(target: Target, books: Books, name: string, stop: AbortSignal): Promise<void> {
  for (let n = 0; !stop.aborted; n += 1) {
    const content = `${name}-${n}`;
    const body = { queue: target.queue, payload: { content } };
    if (n % 2 === 0) {
      books.keyed.add(content);
      await publishKeyed(target, books, content, { ...body, idempotency_key: content });
    } else {
      const reply = await call(target, 'publish', body);
      if (reply === null) books.unknown.add(content);
      else noteAccepted(books, content, reply);
    }
    await sleep(PUBLISH_PAUSE_MS);
  }
}

async function publishKeyed(target: Target, books: Books, content: string, body: object): Promise<void> {
  for (;;) {
    const reply = await call(target, 'publish', body);
    // 409: the first call with the key still runs.
    if (reply !== null && reply.status !== 409) return noteAccepted(books, content, reply);
    await sleep(RETRY_PAUSE_MS);
  }
}

function noteAccepted(books: Books, content: string, { status, data, error }: Reply): void {
  if (status !== 200) {
    books.surprises.push(`publish ${content}: ${JSON.stringify(error)}`);
    return;
  }
  books.accepted.set(content, data.message_id);
  const now = performance.now();
  books.longestGapMs = Math.max(books.longestGapMs, now - books.lastSuccessMs);
  books.lastSuccessMs = now;
}

interface Delivered {
  readonly message_id: string;
  readonly receipt_handle: string;
  readonly delivery_count: number;
  readonly payload: { readonly content: string };
}

/** Consumes until stopped: settles most deliveries, gives some back, forgets some. */
export async function consume(target: Target, books: Books, stop: AbortSignal): Promise<void> {
  const { queue } = target;
  while (!stop.aborted) {
    const reply = await call(target, 'consume', {
      queue,
      max_messages: 10,
      wait_seconds: 1,
      visibility_timeout: VISIBILITY_SECONDS,
    });
    if (reply === null) {
      await sleep(RETRY_PAUSE_MS);
      continue;
    }
    if (reply.status !== 200) books.surprises.push(`consume: ${JSON.stringify(reply.error)}`);
    const items: Delivered[] = reply.data?.items ?? [];
    for (const item of items) noteDelivery(books, item);
    await Promise.all(items.map((item) => settle(target, books, item)));
  }
}

function noteDelivery(books: Books, item: Delivered): void {
  const { message_id: id, delivery_count: count } = item;
  books.seen.set(id, item.payload.content);
  books.deliveries.set(id, Math.max(count, books.deliveries.get(id) ?? 0));
}

async function settle(target: Target, books: Books, item: Delivered): Promise<void> {
  const { message_id: id, receipt_handle, delivery_count } = item;
  const chance = Math.random();
  if (chance < 0.03) return;
  if (chance < 0.06) {
    await call(target, 'nack', { queue: target.queue, receipt_handle });
    return;
  }
  const reply = await call(target, 'ack', { queue: target.queue, receipt_handle });
  if (reply === null) books.maybeAcked.add(id);
  else if (reply.data?.acked === true) books.acked.set(id, delivery_count);
}

/** What no books may show: something accepted that never came, something acknowledged that came again, something nobody sent, a double. */
export function faultsOf(books: Books): Record<'lost' | 'returned' | 'phantoms' | 'doubled' | 'surprises', unknown[]> {
  const contents = new Set(books.seen.values());
  const isOther = ([content, id]: [string, string]) => books.seen.has(id) && books.seen.get(id) !== content;
  return {
    lost: [...books.accepted.keys()].filter((content) => !contents.has(content)),
    returned: [...books.acked].filter(([id, count]) => (books.deliveries.get(id) ?? 0) > count),
    phantoms: [...contents].filter((content) => !books.accepted.has(content) && !books.unknown.has(content)),
    // One message a content: neither a repeat under a key nor the service itself made a second one.
    doubled: [...[...books.accepted].filter(isOther), ...Array(books.seen.size - contents.size).fill('a content')],
    surprises: books.surprises,
  };
}

export const noFaults = { lost: [], returned: [], phantoms: [], doubled: [], surprises: [] };
