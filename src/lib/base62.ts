// Base62 with an alphabet in ASCII order, so that texts of equal length sort as the numbers they encode.
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const digitOf = new Int8Array(128).fill(-1);
for (let i = 0; i < alphabet.length; i += 1) digitOf[alphabet.charCodeAt(i)] = i;
// A 64-bit word takes 11 digits. Two halves below 2^53 keep the arithmetic out of BigInt: 62^5 = 916,132,832.
const HALF = 62n ** 5n;

function digits(value: number, width: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < width; i += 1) {
    text = alphabet.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** A 64-bit unsigned word as 11 digits. */
export function encodeWord(word: bigint): string {
  return digits(Number(word / HALF), 6) + digits(Number(word % HALF), 5);
}

/** The word of 11 digits at `at`; null for other characters or a value beyond 64 bits. */
export function decodeWord(text: string, at: number): bigint | null {
  const high = number(text, at, 6);
  const low = number(text, at + 6, 5);
  if (high === null || low === null) return null;
  const word = BigInt(high) * HALF + BigInt(low);
  return word < 1n << 64n ? word : null;
}

function number(text: string, at: number, width: number): number | null {
  let value = 0;
  for (let i = at; i < at + width; i += 1) {
    const digit = digitOf[text.charCodeAt(i)] ?? -1;
    if (digit < 0) return null;
    value = value * 62 + digit;
  }
  return value;
}

/** A whole number below 62^width, at most 2^53, as `width` digits. */
export function encodeNumber(value: number, width: number): string {
  return digits(value, width);
}

/** Uniform random digits: bytes beyond the last multiple of 62 are drawn again. */
export function randomDigits(count: number, randomByte: () => number): string {
  let text = '';
  while (text.length < count) {
    const byte = randomByte();
    if (byte < 248) text += alphabet.charAt(byte % 62);
  }
  return text;
}
