// Hash index from content to small numbers. It stores no contents: 4 bytes a slot, and contents are compared where they lie.

const EMPTY = 0;
const GONE = -1;
const SLOTS_MIN = 8;

export class Slots {
  /** Number + 1. */
  #slots = new Int32Array(SLOTS_MIN);
  /** Slots that are not empty, gone ones too. */
  #taken = 0;
  #live = 0;
  readonly #hashOf: (number: number) => number;

  /** @param hashOf the hash of the content behind a number, the same each time */
  constructor(hashOf: (number: number) => number) {
    this.#hashOf = hashOf;
  }

  get bytes(): number {
    return this.#slots.byteLength;
  }

  find(hash: number, isIt: (number: number) => boolean): number | undefined {
    const mask = this.#slots.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const slot = this.#slots[at] as number;
      if (slot === EMPTY) return undefined;
      if (slot !== GONE && isIt(slot - 1)) return slot - 1;
    }
  }

  add(hash: number, number: number): void {
    if ((this.#taken + 1) * 10 > this.#slots.length * 7) this.#rebuild();
    this.#put(hash, number);
    this.#live += 1;
  }

  remove(hash: number, number: number): void {
    const mask = this.#slots.length - 1;
    let at = hash & mask;
    while (this.#slots[at] !== number + 1) at = (at + 1) & mask;
    this.#slots[at] = GONE;
    this.#live -= 1;
  }

  /** Room for so many without building anew. */
  reserve(count: number): void {
    if (count * 10 > this.#slots.length * 7) this.#rebuild(count);
  }

  #put(hash: number, number: number): void {
    const mask = this.#slots.length - 1;
    let at = hash & mask;
    while (this.#slots[at] !== EMPTY) at = (at + 1) & mask;
    this.#slots[at] = number + 1;
    this.#taken += 1;
  }

  #rebuild(count = this.#live + 1): void {
    const old = this.#slots;
    let length = SLOTS_MIN;
    while (count * 2 > length) length *= 2;
    this.#slots = new Int32Array(length);
    this.#taken = 0;
    for (const slot of old) if (slot > 0) this.#put(this.#hashOf(slot - 1), slot - 1);
  }
}
