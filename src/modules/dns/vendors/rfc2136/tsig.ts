// TSIG signatures of DNS messages by a shared key (RFC 8945): of requests, and of every message that answers them. A MAC is compared in constant
// time, and only in full length.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { CLASSES, Malformed, type Message, nameAt, nameBytes, recordBody, TYPES, uint16s } from '../../wire/message.ts';

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
    ...[nameBytes(key.algorithm), uint48(nowSeconds), uint16s(FUDGE, mac.length), mac],
    ...[message.subarray(0, 2), uint16s(0, 0)],
  ]);
  const record = Buffer.concat([nameBytes(key.name), recordBody(TYPES.TSIG, 0, rdata, CLASSES.ANY)]);
  const signed = Buffer.concat([message, record]);
  signed.writeUInt16BE(signed.readUInt16BE(ADDITIONAL_AT) + 1, ADDITIONAL_AT);
  return { signed, mac };
}

interface Tsig {
  /** Where its record begins. */
  readonly startAt: number;
  readonly name: string;
  readonly algorithm: string;
  readonly time: number;
  readonly fudge: number;
  readonly mac: Buffer;
  readonly originalId: number;
  readonly error: number;
  readonly other: Buffer;
}

/** Null: the message is not signed. A signature is the last record (RFC 8945, section 5.1). Throws Malformed. */
export function signatureOf({ bytes, answers, authority, additional }: Message): Tsig | null {
  const records = [...answers, ...authority, ...additional];
  const at = records.findIndex(({ type }) => type === TYPES.TSIG);
  const record = records[at];
  if (record === undefined) return null;
  if (at < records.length - 1) throw new Malformed('something follows its signature');
  const isPlaced = additional.length > 0 && record.class === CLASSES.ANY && record.ttl === 0;
  const algorithm = isPlaced ? nameAt(bytes, record.rdataAt) : null;
  if (algorithm === null) throw new Malformed('its signature is none');
  const timeAt = algorithm.endAt;
  const macAt = within(record.endAt, timeAt + 10);
  const macEnd = within(record.endAt, macAt + bytes.readUInt16BE(timeAt + 8));
  const otherAt = within(record.endAt, macEnd + 6);
  return {
    startAt: record.startAt,
    name: record.name,
    algorithm: algorithm.name,
    time: bytes.readUIntBE(timeAt, 6),
    fudge: bytes.readUInt16BE(timeAt + 6),
    mac: bytes.subarray(macAt, macEnd),
    originalId: bytes.readUInt16BE(macEnd),
    error: bytes.readUInt16BE(macEnd + 2),
    other: bytes.subarray(otherAt, within(record.endAt, otherAt + bytes.readUInt16BE(macEnd + 4))),
  };
}

function within(endAt: number, at: number): number {
  if (at > endAt) throw new Malformed('its signature is cut');
  return at;
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

  /** Throws BadSignature, and Malformed. */
  take(message: Message): void {
    const { bytes } = message;
    const tsig = signatureOf(message);
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
    const timers = Buffer.concat([uint48(time), uint16s(fudge)]);
    const wanted = hmac(this.#key, [
      ...[uint16s(this.#mac.length), this.#mac, ...this.#unsigned, plain],
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
    ...[nameBytes(name), uint16s(CLASSES.ANY, 0, 0), nameBytes(algorithm), uint48(time)],
    ...[uint16s(fudge, error, other.length), other],
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
