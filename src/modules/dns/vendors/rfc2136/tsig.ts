// Signatures of DNS messages by a shared key (RFC 8945): of what is sent, and of every message that answers it. A MAC is compared in constant
// time, and only in full length.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { nameBytes } from '../../records/values.ts';
import { bytesOf, type Message, TSIG } from './message.ts';

export const algorithms = ['hmac-sha256', 'hmac-sha512', 'hmac-sha1'] as const;
export type TsigAlgorithm = (typeof algorithms)[number];

export interface TsigKey {
  /** In lower case, without the last dot. */
  readonly name: string;
  readonly secret: Buffer;
  readonly algorithm: TsigAlgorithm;
}

/** Seconds by which clocks may differ (RFC 8945, section 10). */
const FUDGE = 300;
/** Messages of one answer that may follow each other unsigned (RFC 8945, section 5.3.1). */
const UNSIGNED_MAX = 99;
const ANY = 255;
const ADDITIONAL_AT = 10;
const ERRORS: Readonly<Record<number, string>> = {
  16: 'BADSIG: the secret of the key is another one there',
  17: 'BADKEY: it does not know the key',
  18: 'BADTIME: its clock differs by more than five minutes',
  22: 'BADTRUNC: it takes no signature of this length',
};

/** The answer is not signed as it must be; `message` says why. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature';
}

/** The message with its signature, and the MAC by which answers are checked. */
export function sign(message: Buffer, key: TsigKey, nowSeconds: number): { signed: Buffer; mac: Buffer } {
  const fields = { time: nowSeconds, fudge: FUDGE, error: 0, other: Buffer.alloc(0) };
  const mac = hmac(key, [message, variables(key, fields)]);
  const rdata = Buffer.concat([
    ...[nameBytes(key.algorithm), uint48(nowSeconds), bytesOf(FUDGE, mac.length), mac],
    ...[message.subarray(0, 2), bytesOf(0, 0)],
  ]);
  const record = Buffer.concat([nameBytes(key.name), bytesOf(TSIG, ANY, 0, 0, rdata.length), rdata]);
  const signed = Buffer.concat([message, record]);
  signed.writeUInt16BE(signed.readUInt16BE(ADDITIONAL_AT) + 1, ADDITIONAL_AT);
  return { signed, mac };
}

/** Checks the messages that answer one request, in their order. */
export class AnswerCheck {
  readonly #key: TsigKey;
  readonly #nowSeconds: () => number;
  #mac: Buffer;
  #unsigned: Buffer[] = [];
  #isFirst = true;

  /** @param mac that of the request */
  constructor(key: TsigKey, mac: Buffer, nowSeconds: () => number) {
    this.#key = key;
    this.#mac = mac;
    this.#nowSeconds = nowSeconds;
  }

  /** Whether the last message was signed: none of the answer counts before that. */
  get isComplete(): boolean {
    return !this.#isFirst && this.#unsigned.length === 0;
  }

  /** Throws BadSignature. */
  take({ bytes, tsig }: Pick<Message, 'bytes' | 'tsig'>): void {
    if (tsig === null) {
      if (this.#isFirst || this.#unsigned.push(bytes) > UNSIGNED_MAX) throw new BadSignature('it is not signed');
      return;
    }
    const { name, algorithm, time, fudge, error, mac, originalId, other } = tsig;
    if (name !== this.#key.name || algorithm !== this.#key.algorithm) {
      throw new BadSignature('it is signed by another key');
    }
    // Such an answer is not signed: it says why ours did not hold, and nothing else of it is read.
    if (mac.length === 0 && error !== 0) throw new BadSignature(ERRORS[error] ?? `error ${error}`);
    const plain = Buffer.from(bytes.subarray(0, tsig.startAt));
    plain.writeUInt16BE(originalId, 0);
    plain.writeUInt16BE(plain.readUInt16BE(ADDITIONAL_AT) - 1, ADDITIONAL_AT);
    const timers = Buffer.concat([uint48(time), bytesOf(fudge)]);
    const wanted = hmac(this.#key, [
      ...[bytesOf(this.#mac.length), this.#mac, ...this.#unsigned, plain],
      this.#isFirst ? variables(this.#key, { time, fudge, error, other }) : timers,
    ]);
    if (mac.length !== wanted.length || !timingSafeEqual(mac, wanted)) throw new BadSignature('its signature is wrong');
    if (error !== 0) throw new BadSignature(ERRORS[error] ?? `error ${error}`);
    if (Math.abs(this.#nowSeconds() - time) > FUDGE) throw new BadSignature('it was signed at another time');
    this.#mac = mac;
    this.#unsigned = [];
    this.#isFirst = false;
  }
}

interface Signed {
  readonly time: number;
  readonly fudge: number;
  readonly error: number;
  readonly other: Buffer;
}

function variables({ name, algorithm }: TsigKey, { time, fudge, error, other }: Signed): Buffer {
  return Buffer.concat([
    ...[nameBytes(name), bytesOf(ANY, 0, 0), nameBytes(algorithm), uint48(time)],
    ...[bytesOf(fudge, error, other.length), other],
  ]);
}

function hmac({ algorithm, secret }: TsigKey, parts: readonly Buffer[]): Buffer {
  const made = createHmac(algorithm.slice('hmac-'.length), secret);
  for (const part of parts) made.update(part);
  return made.digest();
}

function uint48(value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}
