// Message ids and receipts: each carries the sequence number and a keyed MAC. A message is found by its primary key without a look-up index, and
// an id that was not issued to this account names nothing.
import type { Secrets, WordMac } from '../../../core/secrets/secrets.ts';
import { decodeWord, encodeNumber, encodeWord } from '../../../lib/base62.ts';

const MESSAGE = /^qmsg_[0-9A-Za-z]{22}$/;
const RECEIPT = /^rcpt_[0-9A-Za-z]{28}$/;
const PREFIX_LENGTH = 5;
const WORD_LENGTH = 11;
const ATTEMPT_LENGTH = 6;

/** What an id or a receipt names. A receipt is fenced by the attempt; an id acts on the current lease. */
export interface MessageRef {
  readonly seq: bigint;
  readonly attempt: number | null;
}

export class MessageIds {
  readonly #messageMac: WordMac;
  readonly #receiptMac: WordMac;

  constructor(secrets: Secrets) {
    this.#messageMac = secrets.wordMac('queue-message-id');
    this.#receiptMac = secrets.wordMac('queue-receipt');
  }

  messageId(accountId: string, seq: bigint): string {
    return `qmsg_${encodeWord(seq)}${encodeWord(this.#messageMac(`${accountId} ${seq}`))}`;
  }

  receipt(accountId: string, seq: bigint, attempt: number): string {
    const mac = this.#receiptMac(`${accountId} ${seq} ${attempt}`);
    return `rcpt_${encodeWord(seq)}${encodeNumber(attempt, ATTEMPT_LENGTH)}${encodeWord(mac)}`;
  }

  /** Either kind of text; null for what this account was never given. */
  parse(accountId: string, text: string): MessageRef | null {
    if (MESSAGE.test(text)) return this.#parseMessage(accountId, text);
    return RECEIPT.test(text) ? this.#parseReceipt(accountId, text) : null;
  }

  #parseMessage(accountId: string, text: string): MessageRef | null {
    const seq = decodeWord(text, PREFIX_LENGTH);
    if (seq === null || seq >= 1n << 63n) return null;
    return this.messageId(accountId, seq) === text ? { seq, attempt: null } : null;
  }

  #parseReceipt(accountId: string, text: string): MessageRef | null {
    const seq = decodeWord(text, PREFIX_LENGTH);
    const attempt = decodeWord(
      `00000${text.slice(PREFIX_LENGTH + WORD_LENGTH, PREFIX_LENGTH + WORD_LENGTH + ATTEMPT_LENGTH)}`,
      0,
    );
    if (seq === null || attempt === null || seq >= 1n << 63n || attempt >= 1n << 31n) return null;
    return this.receipt(accountId, seq, Number(attempt)) === text ? { seq, attempt: Number(attempt) } : null;
  }
}
