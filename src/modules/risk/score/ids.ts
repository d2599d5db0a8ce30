// Ids of decisions carry the sequence number and a keyed MAC: an id that was not handed out to this account names nothing.
import type { Secrets, WordMac } from '../../../core/secrets/secrets.ts';
import { encodeWord } from '../../../lib/base62.ts';

export class RiskIds {
  readonly #mac: WordMac;

  constructor(secrets: Secrets) {
    this.#mac = secrets.wordMac('risk-decision-id');
  }

  of(accountId: string, seq: bigint): string {
    return `risk_${encodeWord(seq)}${encodeWord(this.#mac(`${accountId} ${seq}`))}`;
  }
}
