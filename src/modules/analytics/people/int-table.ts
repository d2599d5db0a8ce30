// Hash table of positive integers to integers, by open addressing: a tenth of the memory of a Map. In shared memory, threads read it without a
// copy.

const EMPTY = 0;
const FIRST_CAPACITY = 16;

/** What a table is made of; survives structured cloning. */
export interface TableParts {
  /** Keys, each followed by its value. */
  readonly cells: Int32Array;
  readonly size: number;
}

export class IntTable {
  #cells: Int32Array;
  #mask: number;
  #size: number;
  readonly #isShared: boolean;

  constructor(parts: TableParts | null = null, isShared = false) {
    this.#isShared = isShared;
    this.#cells = parts?.cells ?? this.#make(FIRST_CAPACITY);
    this.#mask = this.#cells.length / 2 - 1;
    this.#size = parts?.size ?? 0;
  }

  get size(): number {
    return this.#size;
  }

  /** The value of a key; `absent` when it has none. */
  get(key: number, absent: number): number {
    const cells = this.#cells;
    for (let at = slotOf(key) & this.#mask; ; at = (at + 1) & this.#mask) {
      const there = cells[at * 2] as number;
      if (there === key) return cells[at * 2 + 1] as number;
      if (there === EMPTY) return absent;
    }
  }

  /** Answers whether the key is new. */
  set(key: number, value: number): boolean {
    if ((this.#size + 1) * 2 > this.#mask + 1) this.#grow();
    const cells = this.#cells;
    for (let at = slotOf(key) & this.#mask; ; at = (at + 1) & this.#mask) {
      const there = cells[at * 2] as number;
      if (there !== key && there !== EMPTY) continue;
      cells[at * 2] = key;
      cells[at * 2 + 1] = value;
      if (there === EMPTY) this.#size += 1;
      return there === EMPTY;
    }
  }

  /** The place of a key in the order in which keys came. */
  place(key: number): number {
    const known = this.get(key, -1);
    if (known !== -1) return known;
    this.set(key, this.#size);
    return this.#size - 1;
  }

  /** Its keys, in no order. */
  keys(): Int32Array {
    const keys = new Int32Array(this.#size);
    let count = 0;
    for (let at = 0; at < this.#cells.length; at += 2) {
      const key = this.#cells[at] as number;
      if (key !== EMPTY) keys[count++] = key;
    }
    return keys;
  }

  parts(): TableParts {
    return { cells: this.#cells, size: this.#size };
  }

  /** Another table with the same entries, which has room for more. */
  copy(): IntTable {
    const cells = this.#make(this.#mask + 1);
    cells.set(this.#cells);
    return new IntTable({ cells, size: this.#size }, this.#isShared);
  }

  #make(capacity: number): Int32Array {
    if (!this.#isShared) return new Int32Array(capacity * 2);
    return new Int32Array(new SharedArrayBuffer(capacity * 2 * Int32Array.BYTES_PER_ELEMENT));
  }

  #grow(): void {
    const before = this.#cells;
    this.#cells = this.#make((this.#mask + 1) * 2);
    this.#mask = this.#cells.length / 2 - 1;
    this.#size = 0;
    for (let at = 0; at < before.length; at += 2) {
      if (before[at] !== EMPTY) this.set(before[at] as number, before[at + 1] as number);
    }
  }
}

/** Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4): neighbours lie apart. */
function slotOf(key: number): number {
  const mixed = Math.imul(key, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
