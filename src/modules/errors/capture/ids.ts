// Ids of events and groups: a sequence number and a keyed MAC. Both are found by their number, and an id that was not issued to this account
// names nothing.
import type { Secrets, WordMac } from '../../../core/secrets/secrets.ts';
import { decodeWord, encodeWord } from '../../../lib/base62.ts';

const EVENT = 'evt_err_';
const GROUP = 'errgrp_';
const DIGITS = /^[0-9A-Za-z]{22}$/;

export class ErrorIds {
  readonly #eventMac: WordMac;
  readonly #groupMac: WordMac;
  readonly #markMac: WordMac;

  constructor(secrets: Secrets) {
    this.#eventMac = secrets.wordMac('error-event-id');
    this.#groupMac = secrets.wordMac('error-group-id');
    this.#markMac = secrets.wordMac('error-search-mark');
  }

  eventId(accountId: string, seq: bigint): string {
    return EVENT + encodeWord(seq) + encodeWord(this.#eventMac(`${accountId} ${seq}`));
  }

  groupId(accountId: string, seq: bigint): string {
    return GROUP + encodeWord(seq) + encodeWord(this.#groupMac(`${accountId} ${seq}`));
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
    return encodeWord(this.#markMac(accountId)).slice(6);
  }
}

function numberOf(prefix: string, text: string): bigint | null {
  if (!text.startsWith(prefix) || !DIGITS.test(text.slice(prefix.length))) return null;
  const seq = decodeWord(text, prefix.length);
  return seq === null || seq >= 1n << 63n ? null : seq;
}

/** Where a person looks at a group (contract of errors). */
export function dashboardUrl(baseUrl: string, errorGroupId: string): string {
  return `${baseUrl}/console/errors/${errorGroupId}`;
}
