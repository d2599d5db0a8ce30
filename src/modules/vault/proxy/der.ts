// Writes DER (ITU-T X.690): the part of it that X.509 certificates need. Each function answers one whole element, tag and length included.

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  generalizedTime: 0x18,
};
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;
const SHORT_LENGTH_MAX = 127;
/** RFC 5280, section 4.1.2.5: UTCTime through 2049, GeneralizedTime from then on. */
const FIRST_GENERALIZED_YEAR = 2050;

function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(bytes: number): Buffer {
  if (bytes <= SHORT_LENGTH_MAX) return Buffer.from([bytes]);
  const digits = bigEndian(BigInt(bytes));
  return Buffer.concat([Buffer.from([CONTEXT | digits.length]), digits]);
}

/** The shortest unsigned form, at least one byte. */
function bigEndian(value: bigint): Buffer {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
}

export function sequence(...members: readonly Uint8Array[]): Buffer {
  return element(TAG.sequence, Buffer.concat(members));
}

/** Of one member: several would have to be sorted. */
export function setOf(member: Uint8Array): Buffer {
  return element(TAG.set, member);
}

export const TRUE = element(TAG.boolean, Buffer.from([0xff]));

/** @param value not negative */
export function integer(value: bigint): Buffer {
  const digits = bigEndian(value);
  // A leading one would make it negative.
  const isNegative = (digits[0] as number) > SHORT_LENGTH_MAX;
  return element(TAG.integer, isNegative ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

/** @param unusedBits of the last byte */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(TAG.bitString, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

export function octetString(bytes: Uint8Array): Buffer {
  return element(TAG.octetString, bytes);
}

export function utf8String(text: string): Buffer {
  return element(TAG.utf8String, Buffer.from(text, 'utf8'));
}

/** @param dotted such as `1.2.840.10045.4.3.2` */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAG.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): number[] {
  const digits = [arc & 0x7f];
  for (let left = arc >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f));
  return digits;
}

/** To the second. */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().replaceAll(/\D/g, '').slice(0, 14)}Z`;
  const isGeneralized = at.getUTCFullYear() >= FIRST_GENERALIZED_YEAR;
  return isGeneralized
    ? element(TAG.generalizedTime, Buffer.from(digits))
    : element(TAG.utcTime, Buffer.from(digits.slice(2)));
}

/** `[number] EXPLICIT`: around a whole element. */
export function explicit(number: number, member: Uint8Array): Buffer {
  return element(CONTEXT | CONSTRUCTED | number, member);
}

/** `[number] IMPLICIT` of a primitive type: its content under another tag. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return element(CONTEXT | number, content);
}
