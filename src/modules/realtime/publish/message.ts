// Types of published events: as the call submits them, and as they are stored and delivered; and message ids.
import { decodeWord, encodeWord } from '../../../lib/base62.ts';

/** One event for some channels. */
export interface NewEvent {
  readonly channels: readonly string[];
  readonly event: string;
  /** JSON text. */
  readonly data: string;
  /** The connection that does not get it; null: all subscribers do. */
  readonly socketId: string | null;
  /** Who sent it, as subscribers see it; null: a server. */
  readonly userId: string | null;
}

/** One event in one channel, as it was stored. */
export interface Message {
  readonly seq: bigint;
  readonly channel: string;
  readonly event: string;
  readonly data: string;
  readonly socketId: string | null;
  readonly userId: string | null;
}

export const MESSAGE_ID_PATTERN = '^rtm_[0-9A-Za-z]{11}$';
const PREFIX = 'rtm_';
const FORM = new RegExp(MESSAGE_ID_PATTERN);

export function messageId(seq: bigint): string {
  return PREFIX + encodeWord(seq);
}

/** Null: it is no id of a message. */
export function seqOfMessage(id: string): bigint | null {
  const seq = FORM.test(id) ? decodeWord(id, PREFIX.length) : null;
  return seq !== null && seq < 1n << 63n ? seq : null;
}
