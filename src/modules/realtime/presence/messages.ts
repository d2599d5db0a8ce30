// Messages that the service itself sends in channels. They are rows in the account's sequence like published messages, but no part of the
// history.
import type { Transaction } from '../../../db/database.ts';
import { sendMessages } from '../publish/store.ts';

/** A message of the service in a channel, behind all that was published before. */
export interface OwnMessage {
  readonly seq: bigint;
  readonly channel: string;
  /** Begins with `pusher_internal:`. */
  readonly event: string;
  /** JSON text. */
  readonly data: string;
}

/** Whether it is one of those, which only sockets get. */
export function isOwnMessage({ event }: Pick<OwnMessage, 'event'>): boolean {
  return event.startsWith('pusher_internal:');
}

/** Sends the insert. */
export function insertOwnMessages(tx: Transaction, accountId: string, messages: readonly OwnMessage[]): void {
  sendMessages(
    tx,
    messages.map((message) => ({ accountId, ...message, dataSeq: null, socketId: null, userId: null })),
    false,
  );
}
