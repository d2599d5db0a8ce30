// Message ids and receipts carry the sequence number and a keyed MAC: a message is found by its primary key, without a look-up
// index, and an id that we did not hand out to this account names nothing.
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { decodeWord, encodeNumber, encodeWord } from '../../../lib/base62.ts';
import { type SipKey, siphash, sipKey } from '../../../lib/siphash.ts';

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
  readonly #messageKey: SipKey;
  readonly #receiptKey: SipKey;
  // seq (8), attempt (4), account id
  readonly #scratch = Buffer.alloc(12 + 128);

  constructor(secrets: Secrets) {
    this.#messageKey = sipKey(secrets.derive('queue-message-id', 16));
    this.#receiptKey = sipKey(secrets.derive('queue-receipt', 16));
  }

  messageId(accountId: string, seq: bigint): string {
    return `qmsg_${encodeWord(seq)}${encodeWord(this.#mac(this.#messageKey, accountId, seq, 0))}`;
  }

  receipt(accountId: string, seq: bigint, attempt: number): string {
    const mac = this.#mac(this.#receiptKey, accountId, seq, attempt);
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

  #mac(key: SipKey, accountId: string, seq: bigint, attempt: number): bigint {
    this.#scratch.writeBigUInt64BE(seq, 0);
    this.#scratch.writeUInt32BE(attempt, 8);
    const length = this.#scratch.write(accountId, 12, 'latin1');
    return siphash(key, this.#scratch.subarray(0, 12 + length));
  }
}
