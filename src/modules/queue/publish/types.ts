// What is published, on its way from the request to its row.
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
}

export interface PublishInput {
  readonly queue: string;
  readonly messages: readonly NewMessage[];
  /** Where the messages stand in the request: '' or `messages[3].`. */
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
