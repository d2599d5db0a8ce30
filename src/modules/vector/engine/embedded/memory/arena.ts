// Memory for vectors: large WebAssembly memories, split into blocks of powers of two (a buddy allocator). Memory that one collection frees
// serves the next, whatever their sizes. Pages that were never touched cost nothing.
import { instantiate, type Kernel, SCRATCH_BYTES } from '../kernel/kernel.ts';

const PAGE_BYTES = 65_536;
const BLOCK_ORDER_MIN = 10;
const ARENA_BYTES_MIN = 2 ** 26;
const ARENA_BYTES_MAX = 2 ** 31;
const ARENAS_WANTED = 32;

export interface Block {
  readonly arena: Arena;
  readonly at: number;
  readonly bytes: number;
}

/** One memory, with the kernel that works in it. */
export class Arena {
  readonly kernel: Kernel;
  readonly int8: Int8Array;
  readonly uint8: Uint8Array;
  readonly int16: Int16Array;
  readonly uint32: Uint32Array;
  readonly float32: Float32Array;
  readonly float64: Float64Array;

  readonly #orderMax: number;
  /** Free blocks by the binary logarithm of their size. */
  readonly #free: Set<number>[] = [];
  #used = 0;

  constructor(bytes: number) {
    const pages = bytes / PAGE_BYTES;
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    this.kernel = instantiate(memory);
    this.int8 = new Int8Array(memory.buffer);
    this.uint8 = new Uint8Array(memory.buffer);
    this.int16 = new Int16Array(memory.buffer);
    this.uint32 = new Uint32Array(memory.buffer);
    this.float32 = new Float32Array(memory.buffer);
    this.float64 = new Float64Array(memory.buffer);
    this.#orderMax = Math.log2(bytes);
    for (let order = 0; order <= this.#orderMax; order += 1) this.#free.push(new Set());
    this.#freeOf(this.#orderMax).add(0);
    // the first block is where the kernel's arguments lie
    this.take(orderOf(SCRATCH_BYTES));
    this.#used = 0;
  }

  /** Whether nothing but the kernel's own block is in use. */
  get idle(): boolean {
    return this.#used === 0;
  }

  /** The offset of a block of 2^order bytes, or undefined when there is none. */
  take(order: number): number | undefined {
    let from = order;
    while (from <= this.#orderMax && this.#freeOf(from).size === 0) from += 1;
    if (from > this.#orderMax) return undefined;
    const [at] = this.#freeOf(from);
    if (at === undefined) return undefined;
    this.#freeOf(from).delete(at);
    for (; from > order; from -= 1) this.#freeOf(from - 1).add(at + 2 ** (from - 1));
    this.#used += 2 ** order;
    return at;
  }

  give(at: number, order: number): void {
    this.#used -= 2 ** order;
    let start = at;
    let merged = order;
    while (merged < this.#orderMax) {
      const size = 2 ** merged;
      const buddy = (start / size) % 2 === 0 ? start + size : start - size;
      if (!this.#freeOf(merged).delete(buddy)) break;
      start = Math.min(start, buddy);
      merged += 1;
    }
    this.#freeOf(merged).add(start);
  }

  #freeOf(order: number): Set<number> {
    return this.#free[order] as Set<number>;
  }
}

function orderOf(bytes: number): number {
  return Math.max(BLOCK_ORDER_MIN, Math.ceil(Math.log2(bytes)));
}

export class ArenaPool {
  readonly #arenas: Arena[] = [];
  readonly #arenaBytes: number;

  /** @param budgetBytes what all blocks together will hardly exceed; it decides how large one memory is. */
  constructor(budgetBytes: number) {
    const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, budgetBytes / ARENAS_WANTED)));
    this.#arenaBytes = Math.min(ARENA_BYTES_MAX, Math.max(ARENA_BYTES_MIN, wanted));
  }

  /** A block of at least `bytes`, rounded up to a power of two; its content is undefined. */
  allocate(bytes: number): Block {
    const order = orderOf(bytes);
    for (const arena of this.#arenas) {
      const at = arena.take(order);
      if (at !== undefined) return { arena, at, bytes: 2 ** order };
    }
    const arena = new Arena(this.#arenaBytes);
    this.#arenas.push(arena);
    const at = arena.take(order);
    if (at === undefined) throw new RangeError(`no memory holds a block of ${bytes} bytes`);
    return { arena, at, bytes: 2 ** order };
  }

  free({ arena, at, bytes }: Block): void {
    arena.give(at, Math.log2(bytes));
    // One is kept: collections that come and go must not map and unmap memory each time.
    if (arena.idle && this.#arenas.length > 1) this.#arenas.splice(this.#arenas.indexOf(arena), 1);
  }
}
