// A published message on its way from the request to its row. Payload and headers are source texts cut out of the request, never parsed and
// serialized again.
import { elementStarts, memberSources } from '../../../lib/json-source.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import type { QueueRow } from '../queues/records.ts';

export interface NewMessage {
  /** JSON texts as sent. */
  readonly payload: string;
  readonly headers: string | null;
  /** Undefined: the queue's own delay. */
  readonly delaySeconds: number | undefined;
  readonly priority: number | undefined;
  readonly groupId: string | null;
  readonly deduplicationId: string | null;
  /** Of a message that a client of SQS sent; absent: published natively. */
  readonly sqs?: {
    /** Its size as SQS counts it: body and attributes. */
    readonly bytes: number;
    /** What is kept of it besides, as JSON text (sqs/message.ts); null: nothing. */
    readonly kept: string | null;
  };
}

export interface PublishInput {
  readonly queue: string;
  readonly messages: readonly NewMessage[];
  /** Where the messages stand in the request: '' or `items[3].`. */
  readonly paramOf: (index: number) => string;
  /** A batch answers {queue, items}, a single publish the message. */
  readonly batch: boolean;
}

export interface PublishContext {
  readonly queue: QueueRow;
  /** Per message the record of an earlier one with its deduplication id; null when it is new. */
  readonly earlier: readonly (string | null)[];
  /** Per message the index of the message in this call that it repeats; -1 when none. */
  readonly repeats: readonly number[];
}

/** A message as it will be stored. */
export interface StoredMessage {
  readonly accountId: string;
  readonly queue: QueueRow;
  readonly seq: bigint;
  readonly visibleMs: number;
  readonly message: NewMessage;
  readonly groupId: string | null;
  readonly band: number;
}

/** The fields of a message after validation. */
export interface MessageFields {
  readonly payload?: unknown;
  readonly body?: unknown;
  readonly headers?: unknown;
  readonly delay_seconds?: number;
  readonly priority?: number;
  readonly message_group_id?: string | null;
  readonly deduplication_id?: string | null;
}

/** What `bulk` makes of the body of a publish. */
export interface SentMessages {
  readonly queue: string;
  readonly messages: readonly NewMessage[];
  /** Length of the body. */
  readonly characters: number;
}

/** The message whose object starts at `from` in `text`. `at` prefixes the names of fields in errors. */
export function messageFromSource(text: string, from: number, fields: MessageFields, at: string): NewMessage {
  const sources = memberSources(text, from);
  const payload = sources.get('payload');
  const body = sources.get('body');
  if (payload !== undefined && body !== undefined) {
    throw problem('INVALID_REQUEST', { param: `${at}body`, message: 'Send payload or body, not both.' });
  }
  const source = payload ?? body;
  if (source === undefined) throw invalidField(`${at}payload`, 'required', `${at}payload is required.`);
  const headers = fields.headers == null ? undefined : sources.get('headers');
  return {
    payload: text.slice(source.start, source.end),
    headers: headers === undefined ? null : text.slice(headers.start, headers.end),
    delaySeconds: fields.delay_seconds,
    priority: fields.priority,
    groupId: fields.message_group_id ?? null,
    deduplicationId: fields.deduplication_id ?? null,
  };
}

/** What `items` of a batch was called before. */
export const ITEMS_BEFORE = 'messages';

/** The messages of a batch: the objects of the array `items`. */
export function messagesFromSource(text: string, fields: readonly MessageFields[]): NewMessage[] {
  const sources = memberSources(text);
  const list = sources.get('items') ?? sources.get(ITEMS_BEFORE);
  if (list === undefined) throw invalidField('items', 'required', 'items is required.');
  return elementStarts(text, list.start).map((start, i) =>
    messageFromSource(text, start, fields[i] as MessageFields, `items[${i}].`),
  );
}
