// Ids of events and groups carry the sequence number and a keyed MAC: both are found by their number, and an id that we did not
// hand out to this account names nothing.
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { decodeWord, encodeWord } from '../../../lib/base62.ts';
import { type SipKey, siphash, sipKey } from '../../../lib/siphash.ts';

const EVENT = 'evt_err_';
const GROUP = 'errgrp_';
const DIGITS = /^[0-9A-Za-z]{22}$/;

export class ErrorIds {
  readonly #eventKey: SipKey;
  readonly #groupKey: SipKey;
  readonly #markKey: SipKey;
  // seq (8), account id
  readonly #scratch = Buffer.alloc(8 + 128);

  constructor(secrets: Secrets) {
    this.#eventKey = sipKey(secrets.derive('error-event-id', 16));
    this.#groupKey = sipKey(secrets.derive('error-group-id', 16));
    this.#markKey = sipKey(secrets.derive('error-search-mark', 16));
  }

  eventId(accountId: string, seq: bigint): string {
    return EVENT + encodeWord(seq) + encodeWord(this.#mac(this.#eventKey, accountId, seq));
  }

  groupId(accountId: string, seq: bigint): string {
    return GROUP + encodeWord(seq) + encodeWord(this.#mac(this.#groupKey, accountId, seq));
  }

  /** The number of an event; null for what this account was never given. */
  parseEvent(accountId: string, text: string): bigint | null {
    const seq = numberOf(EVENT, text);
    return seq !== null && this.eventId(accountId, seq) === text ? seq : null;
  }

  /** The number of a group; null for what this account was never given. */
  parseGroup(accountId: string, text: string): bigint | null {
    const seq = numberOf(GROUP, text);
    return seq !== null && this.groupId(accountId, seq) === text ? seq : null;
  }

  /** Five characters that lead the account's words in the search index. Two accounts may share them: they only thin out. */
  searchMark(accountId: string): string {
    return encodeWord(this.#mac(this.#markKey, accountId, 0n)).slice(6);
  }

  #mac(key: SipKey, accountId: string, seq: bigint): bigint {
    this.#scratch.writeBigUInt64BE(seq, 0);
    const length = this.#scratch.write(accountId, 8, 'latin1');
    return siphash(key, this.#scratch.subarray(0, 8 + length));
  }
}

function numberOf(prefix: string, text: string): bigint | null {
  if (!text.startsWith(prefix) || !DIGITS.test(text.slice(prefix.length))) return null;
  const seq = decodeWord(text, prefix.length);
  return seq === null || seq >= 1n << 63n ? null : seq;
}
