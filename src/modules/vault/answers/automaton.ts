// Finds any of many byte patterns in linear time: the automaton of Aho and Corasick (1975) over flat arrays, and the table of Wu and Manber
// (1994) to leap over what can be the beginning of none. Read-only once it is built.

/** Longer leaps gain nothing: more blocks of the patterns would be in the table. */
const WINDOW_BYTES_MAX = 64;
const BLOCKS = 65_536;

export class Automaton {
  /** From the root, by byte; 0 is the root. */
  readonly #first = new Int32Array(256);
  // The children of a state: its first, and of each the next one, with the byte that leads to it.
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #byte: Uint8Array;
  /** The state of the longest shorter suffix of a state's bytes that is a beginning of a pattern. */
  readonly #fallback: Int32Array;
  readonly #depth: Int32Array;
  /** Of the longest pattern that ends in a state; 0: none. */
  readonly #matchBytes: Int32Array;
  /** A pattern that begins with a state's bytes. */
  readonly #pattern: Int32Array;
  readonly #patterns: readonly Buffer[];
  /** How far to go on by the block of two bytes at the end of a window; 0: a pattern may begin where the window does. */
  readonly #leap: Uint8Array;
  readonly #windowBytes: number;
  #states = 1;
  /** Steps to a fallback so far: with one for each byte, all the work that a walk does. */
  #fallbacks = 0;

  /** @param patterns at least one, none shorter than 2 bytes */
  constructor(patterns: readonly Buffer[]) {
    const states = 1 + patterns.reduce((sum, { length }) => sum + length, 0);
    this.#patterns = patterns;
    this.#child = new Int32Array(states);
    this.#sibling = new Int32Array(states);
    this.#byte = new Uint8Array(states);
    this.#fallback = new Int32Array(states);
    this.#depth = new Int32Array(states);
    this.#matchBytes = new Int32Array(states);
    this.#pattern = new Int32Array(states);
    this.#windowBytes = Math.min(WINDOW_BYTES_MAX, ...patterns.map(({ length }) => length));
    this.#leap = new Uint8Array(BLOCKS).fill(this.#windowBytes - 1);
    patterns.forEach((pattern, i) => {
      this.#addPattern(pattern, i);
      this.#addBlocks(pattern);
    });
    this.#linkFallbacks();
  }

  get fallbacks(): number {
    return this.#fallbacks;
  }

  /** The state after one more byte. Falls back at most as often as earlier bytes led deeper. */
  next(state: number, byte: number): number {
    for (let from = state; from !== 0; from = this.#fallback[from] as number) {
      for (let to = this.#child[from] as number; to !== 0; to = this.#sibling[to] as number) {
        if (this.#byte[to] === byte) return to;
      }
      this.#fallbacks++;
    }
    return this.#first[byte] as number;
  }

  /** Bytes of the longest pattern that ends here; 0: none. */
  matchBytes(state: number): number {
    return this.#matchBytes[state] as number;
  }

  /** The bytes that led to a state, which are a beginning of a pattern; not to be changed. */
  bytesOf(state: number): Buffer {
    return (this.#patterns[this.#pattern[state] as number] as Buffer).subarray(0, this.#depth[state]);
  }

  /** The first place at or behind `from` where a pattern may begin, for a walk that begins there at the root. Below `bytes.length`. */
  leap(bytes: Buffer, from: number): number {
    const leaps = this.#leap;
    const endOfWindow = this.#windowBytes - 2;
    const last = bytes.length - 1;
    let at = from + endOfWindow;
    while (at < last) {
      const far = leaps[((bytes[at] as number) << 8) | (bytes[at + 1] as number)] as number;
      if (far === 0) break;
      at += far;
    }
    return at - endOfWindow;
  }

  #addPattern(pattern: Buffer, index: number): void {
    let state = 0;
    for (const byte of pattern) state = this.#childOf(state, byte) || this.#addState(state, byte, index);
    this.#matchBytes[state] = pattern.length;
  }

  #childOf(state: number, byte: number): number {
    if (state === 0) return this.#first[byte] as number;
    let to = this.#child[state] as number;
    while (to !== 0 && this.#byte[to] !== byte) to = this.#sibling[to] as number;
    return to;
  }

  #addState(parent: number, byte: number, pattern: number): number {
    const state = this.#states++;
    if (parent === 0) this.#first[byte] = state;
    this.#sibling[state] = this.#child[parent] as number;
    this.#child[parent] = state;
    this.#byte[state] = byte;
    this.#depth[state] = (this.#depth[parent] as number) + 1;
    this.#pattern[state] = pattern;
    return state;
  }

  #addBlocks(pattern: Buffer): void {
    for (let at = 0; at <= this.#windowBytes - 2; at++) {
      const block = pattern.readUInt16BE(at);
      this.#leap[block] = Math.min(this.#leap[block] as number, this.#windowBytes - 2 - at);
    }
  }

  // By depth, so that the fallback of a state is linked before it.
  #linkFallbacks(): void {
    const queue = new Int32Array(this.#states);
    let queued = 1;
    for (let at = 0; at < queued; at++) {
      const state = queue[at] as number;
      for (let to = this.#child[state] as number; to !== 0; to = this.#sibling[to] as number) {
        queue[queued++] = to;
        if (state === 0) continue;
        const fallback = this.next(this.#fallback[state] as number, this.#byte[to] as number);
        this.#fallback[to] = fallback;
        this.#matchBytes[to] ||= this.#matchBytes[fallback] as number;
      }
    }
  }
}
