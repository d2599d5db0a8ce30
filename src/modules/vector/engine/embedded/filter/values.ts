// Dictionary of metadata values: each (key, type, value) once, with a number as its code; 35 bytes beside the text. Of a long text it keeps the
// beginning and the SHA-256: equality stays exact, and order is answered unless only the rest decides.
import { createHash } from 'node:crypto';
import type { Scalar } from '../../port.ts';
import { hashBytes, mix, withRoom } from '../memory/growing.ts';
import { Slots } from '../memory/slots.ts';

/** `other`: an object, an empty array: there, but equal to nothing. */
export const kinds = { text: 1, number: 2, boolean: 3, null: 4, other: 5, longText: 6 } as const;
type Kind = (typeof kinds)[keyof typeof kinds];

const TEXT_BYTES_MAX = 256;
export const LONG_TEXT_KEPT_BYTES = 64;
const NONE = 0xffffffff;
const KEY_BYTES = 250;

/** A value as it is looked up. */
interface Coded {
  readonly kind: Kind;
  readonly number: number;
  readonly text: Buffer;
}

const noText = Buffer.alloc(0);
const numberBits = new DataView(new ArrayBuffer(8));

export function encodeText(text: string): Coded {
  const bytes = Buffer.from(text);
  if (bytes.length <= TEXT_BYTES_MAX) return { kind: kinds.text, number: 0, text: bytes };
  const digest = createHash('sha256').update(bytes).digest();
  return { kind: kinds.longText, number: 0, text: Buffer.concat([bytes.subarray(0, LONG_TEXT_KEPT_BYTES), digest]) };
}

export function encodeScalar(value: unknown): Coded {
  if (typeof value === 'string') return encodeText(value);
  // 0 and -0 are equal
  if (typeof value === 'number') return { kind: kinds.number, number: value + 0, text: noText };
  if (typeof value === 'boolean') return { kind: kinds.boolean, number: value ? 1 : 0, text: noText };
  return { kind: value === null ? kinds.null : kinds.other, number: 0, text: noText };
}

export class Values {
  readonly #keys = new Map<string, { readonly number: number; lastCode: number }>();
  #count = 0;
  #keyOf = new Uint32Array(0);
  #kindOf = new Uint8Array(0);
  #numberOf = new Float64Array(0);
  #textAt = new Uint32Array(0);
  #textEnd = new Uint32Array(0);
  /** The code before this one of the same key. */
  #previous = new Uint32Array(0);
  #heap = new Uint8Array(64);
  #used = 0;
  readonly #seed = (Math.random() * 2 ** 32) >>> 0;
  readonly #slots = new Slots((code) => this.#hashOfCode(code));

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    const columns = [
      this.#keyOf,
      this.#kindOf,
      this.#numberOf,
      this.#textAt,
      this.#textEnd,
      this.#previous,
      this.#heap,
    ];
    return columns.reduce((sum, column) => sum + column.byteLength, this.#slots.bytes + this.#keys.size * KEY_BYTES);
  }

  /** The code of a value, a new one when there is none. */
  codeOf(key: string, value: unknown): number {
    const coded = encodeScalar(value);
    let known = this.#keys.get(key);
    if (known === undefined) {
      known = { number: this.#keys.size, lastCode: NONE };
      this.#keys.set(key, known);
    }
    const hash = this.#hash(known.number, coded);
    const found = this.#find(known.number, coded, hash);
    if (found !== undefined) return found;
    const code = this.#append(known.number, coded, known.lastCode);
    known.lastCode = code;
    this.#slots.add(hash, code);
    return code;
  }

  find(key: string, value: Scalar): number | undefined {
    const known = this.#keys.get(key);
    if (known === undefined) return undefined;
    const coded = encodeScalar(value);
    return this.#find(known.number, coded, this.#hash(known.number, coded));
  }

  /** Every code of a key. */
  *codesOf(key: string): Generator<number> {
    let code = this.#keys.get(key)?.lastCode ?? NONE;
    for (; code !== NONE; code = this.#previous[code] as number) yield code;
  }

  kindOf(code: number): Kind {
    return this.#kindOf[code] as Kind;
  }

  numberOf(code: number): number {
    return this.#numberOf[code] as number;
  }

  /** UTF-8; of a long text its beginning and its digest. */
  textOf(code: number): Uint8Array {
    return this.#heap.subarray(this.#textAt[code], this.#textEnd[code]);
  }

  #append(key: number, { kind, number, text }: Coded, previous: number): number {
    const code = this.#count;
    this.#count += 1;
    this.#keyOf = withRoom(this.#keyOf, this.#count);
    this.#kindOf = withRoom(this.#kindOf, this.#count);
    this.#numberOf = withRoom(this.#numberOf, this.#count);
    this.#textAt = withRoom(this.#textAt, this.#count);
    this.#textEnd = withRoom(this.#textEnd, this.#count);
    this.#previous = withRoom(this.#previous, this.#count);
    this.#heap = withRoom(this.#heap, this.#used + text.length);
    this.#heap.set(text, this.#used);
    this.#keyOf[code] = key;
    this.#kindOf[code] = kind;
    this.#numberOf[code] = number;
    this.#textAt[code] = this.#used;
    this.#used += text.length;
    this.#textEnd[code] = this.#used;
    this.#previous[code] = previous;
    return code;
  }

  #find(key: number, { kind, number, text }: Coded, hash: number): number | undefined {
    return this.#slots.find(hash, (code) => {
      if (this.#keyOf[code] !== key || this.#kindOf[code] !== kind || this.#numberOf[code] !== number) return false;
      const at = this.#textAt[code] as number;
      if ((this.#textEnd[code] as number) - at !== text.length) return false;
      for (let i = 0; i < text.length; i += 1) if (this.#heap[at + i] !== text[i]) return false;
      return true;
    });
  }

  #hash(key: number, { kind, number, text }: Coded): number {
    return this.#hashOf(key, kind, number, hashBytes(text, 0, text.length, this.#seed));
  }

  #hashOfCode(code: number): number {
    const text = hashBytes(this.#heap, this.#textAt[code] as number, this.#textEnd[code] as number, this.#seed);
    return this.#hashOf(this.#keyOf[code] as number, this.kindOf(code), this.numberOf(code), text);
  }

  #hashOf(key: number, kind: Kind, number: number, text: number): number {
    numberBits.setFloat64(0, number);
    return mix(mix(mix(text ^ key) ^ numberBits.getUint32(0)) ^ numberBits.getUint32(4) ^ (kind << 28));
  }
}
