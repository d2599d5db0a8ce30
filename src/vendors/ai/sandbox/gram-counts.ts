// How often each gram of a text was met, by its hash: in flat arrays, since a text has some four grams a letter, and as objects they would take
// ten times the time and the memory.
import { randomInt } from 'node:crypto';

/** Where a hash is looked for first is known to nobody outside, so no text can be written whose grams all meet there. */
const SCATTER = randomInt(2 ** 31) * 2 + 1;
/** Places beforehand, as a power of two, twice as many as grams: to make room for more takes long at once. */
const BITS_LEAST = 10;
const BITS_FIRST_MAX = 22;

export class GramCounts {
  #bits: number;
  #size = 0;
  #hashes: Uint32Array;
  #counts: Uint32Array;
  #kinds: Uint8Array;
  /** By where it is looked for: the number of an entry and one; 0: none. */
  #places: Uint32Array;

  /** `expected`: so many different ones at most, for all that is known. */
  constructor(expected: number) {
    this.#bits = Math.min(Math.max(BITS_LEAST, Math.ceil(Math.log2(2 * expected + 1))), BITS_FIRST_MAX);
    const entries = 2 ** (this.#bits - 1);
    this.#hashes = new Uint32Array(entries);
    this.#counts = new Uint32Array(entries);
    this.#kinds = new Uint8Array(entries);
    this.#places = new Uint32Array(2 * entries);
  }

  /** Of different grams. */
  get size(): number {
    return this.#size;
  }

  /** One more of it. `kind`: of what it was the first time. */
  add(hash: number, kind: number): void {
    const place = this.#placeOf(hash);
    const entry = this.#places[place] as number;
    if (entry !== 0) {
      this.#counts[entry - 1] = (this.#counts[entry - 1] as number) + 1;
      return;
    }
    this.#hashes[this.#size] = hash;
    this.#counts[this.#size] = 1;
    this.#kinds[this.#size] = kind;
    this.#size += 1;
    this.#places[place] = this.#size;
    if (this.#size === this.#hashes.length) this.#grow();
  }

  /** In the order in which they were met first. */
  hashAt(index: number): number {
    return this.#hashes[index] as number;
  }

  countAt(index: number): number {
    return this.#counts[index] as number;
  }

  kindAt(index: number): number {
    return this.#kinds[index] as number;
  }

  #placeOf(hash: number): number {
    const places = this.#places;
    let at = Math.imul(hash, SCATTER) >>> (32 - this.#bits);
    for (;;) {
      const entry = places[at] as number;
      if (entry === 0 || this.#hashes[entry - 1] === hash) return at;
      at = (at + 1) & (places.length - 1);
    }
  }

  #grow(): void {
    this.#bits += 1;
    const entries = 2 ** (this.#bits - 1);
    this.#hashes = grown(this.#hashes, new Uint32Array(entries));
    this.#counts = grown(this.#counts, new Uint32Array(entries));
    this.#kinds = grown(this.#kinds, new Uint8Array(entries));
    this.#places = new Uint32Array(2 ** this.#bits);
    for (let i = 0; i < this.#size; i += 1) this.#places[this.#placeOf(this.#hashes[i] as number)] = i + 1;
  }
}

function grown<Numbers extends Uint32Array | Uint8Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
