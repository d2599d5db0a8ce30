// What a searching thread and its partner share: the task, which parts of it are taken, what the partner found.
import { TOP_K_MAX } from '../../../limits.ts';
import { DIMENSION_MAX } from '../kernel/kernel.ts';
import type { Candidates } from './candidates.ts';
import type { Scan, Walk } from './scan.ts';

const PARTS_MAX = 2 ** 15;
const ROWS_MAX = 2 ** 24;
const FOUND_MAX = 2 ** 16;
const TOO_MANY = -1;

/** Places among the numbers. */
const CELL = {
  begun: 0,
  done: 1,
  next: 2,
  parts: 3,
  stride: 4,
  isEuclidean: 5,
  topK: 6,
  passedWords: 7,
  walk: 8,
  found: 9,
  lowers: 10,
  ready: 11,
};
const CELLS = 16;
const PART = { arena: 0, small: 1, start: 2, count: 3 };
const PART_CELLS = 4;

/** A part as another thread finds it. */
export interface NumberedPart {
  /** `Arena.number` */
  readonly arena: number;
  readonly small: number;
  readonly start: number;
  readonly count: number;
}

export interface Task {
  readonly scan: Scan;
  readonly topK: number;
  readonly parts: readonly NumberedPart[];
}

/**
 * Waking a thread takes as long as half a first pass of 5 MB. One that expects to go on soon therefore stays awake so long: such passes
 * one after the other take 0.19 to 0.25 ms in place of 0.25 to 0.30, and as many queries a second are answered over HTTP as before.
 */
const SPIN_MS = 0.5;

function spin(ms: number, isOver: () => boolean): boolean {
  const end = performance.now() + ms;
  while (!isOver()) {
    if (performance.now() > end) return false;
    Atomics.pause();
  }
  return true;
}

export class Board {
  /** The last task came soon after the one before: so may the next. */
  #hurried = false;
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Int32Array<SharedArrayBuffer>;
  readonly #floats: Float64Array;
  readonly #int16: Int16Array;
  readonly #parts: Uint32Array;
  readonly #passed: Uint32Array;
  readonly #rows: Uint32Array;
  readonly #uppers: Float64Array;
  readonly #lowers: Float64Array;

  /** @param buffer of another thread's board; absent: one of its own. Pages that were never touched cost nothing. */
  constructor(buffer?: SharedArrayBuffer) {
    let bytes = 0;
    const at = (length: number, width: number): [number, number] => {
      const from = Math.ceil(bytes / 8) * 8;
      bytes = from + length * width;
      return [from, length];
    };
    const places = {
      cells: at(CELLS, 4),
      floats: at(3, 8),
      int16: at(DIMENSION_MAX, 2),
      parts: at(PARTS_MAX * PART_CELLS, 4),
      passed: at(ROWS_MAX / 32, 4),
      rows: at(FOUND_MAX, 4),
      uppers: at(FOUND_MAX, 8),
      lowers: at(TOP_K_MAX, 8),
    };
    this.buffer = buffer ?? new SharedArrayBuffer(bytes);
    this.#cells = new Int32Array(this.buffer, ...places.cells);
    this.#floats = new Float64Array(this.buffer, ...places.floats);
    this.#int16 = new Int16Array(this.buffer, ...places.int16);
    this.#parts = new Uint32Array(this.buffer, ...places.parts);
    this.#passed = new Uint32Array(this.buffer, ...places.passed);
    this.#rows = new Uint32Array(this.buffer, ...places.rows);
    this.#uppers = new Float64Array(this.buffer, ...places.uppers);
    this.#lowers = new Float64Array(this.buffer, ...places.lowers);
  }

  /** Whether the partner waits for a task. */
  get isIdle(): boolean {
    return Atomics.load(this.#cells, CELL.ready) === 1 && this.#isDone;
  }

  get #isDone(): boolean {
    return Atomics.load(this.#cells, CELL.done) === Atomics.load(this.#cells, CELL.begun);
  }

  static holds({ scan, topK, parts }: Task): boolean {
    return parts.length <= PARTS_MAX && topK <= TOP_K_MAX && (scan.passed?.length ?? 0) <= ROWS_MAX / 32;
  }

  /** Writes the task and wakes the partner, which must be idle. */
  begin({ scan, topK, parts }: Task): void {
    const cells = this.#cells;
    cells[CELL.parts] = parts.length;
    cells[CELL.stride] = scan.stride;
    cells[CELL.isEuclidean] = Number(scan.isEuclidean);
    cells[CELL.topK] = topK;
    cells[CELL.passedWords] = scan.passed?.length ?? -1;
    cells[CELL.walk] = scan.walk;
    this.#floats.set([scan.query.scale, scan.query.norm, scan.query.slack]);
    this.#int16.set(scan.query.int16);
    if (scan.passed !== null) this.#passed.set(scan.passed);
    for (const [i, part] of parts.entries()) {
      this.#parts[i * PART_CELLS + PART.arena] = part.arena;
      this.#parts[i * PART_CELLS + PART.small] = part.small;
      this.#parts[i * PART_CELLS + PART.start] = part.start;
      this.#parts[i * PART_CELLS + PART.count] = part.count;
    }
    Atomics.store(cells, CELL.next, 0);
    Atomics.add(cells, CELL.begun, 1);
    Atomics.notify(cells, CELL.begun);
  }

  /** The next part that nobody has; undefined when there is none. */
  take(): number | undefined {
    const part = Atomics.add(this.#cells, CELL.next, 1);
    return part < (this.#cells[CELL.parts] as number) ? part : undefined;
  }

  /** Leaves the partner nothing more to take. */
  stop(): void {
    Atomics.store(this.#cells, CELL.next, PARTS_MAX);
  }

  /** Blocks until the partner is idle, `ms` at most; answers whether it is. */
  wait(ms: number): boolean {
    const done = Atomics.load(this.#cells, CELL.done);
    if (!spin(Math.min(ms, SPIN_MS), () => this.isIdle)) Atomics.wait(this.#cells, CELL.done, done, ms);
    return this.isIdle;
  }

  /** The same without blocking the thread. */
  async settled(ms: number): Promise<boolean> {
    const done = Atomics.load(this.#cells, CELL.done);
    // the wait itself does not keep the thread alive, and may end a little later
    const alive = setInterval(() => undefined, ms);
    if (!this.isIdle) await Atomics.waitAsync(this.#cells, CELL.done, done, ms).value;
    clearInterval(alive);
    return this.isIdle;
  }

  /** Gives what the partner found to `candidates`; false when there was no room for it. */
  collect(candidates: Candidates): boolean {
    const found = this.#cells[CELL.found] as number;
    if (found === TOO_MANY) return false;
    const lowers = this.#lowers.subarray(0, this.#cells[CELL.lowers]);
    candidates.join(this.#rows.subarray(0, found), this.#uppers.subarray(0, found), lowers);
    return true;
  }

  /** The partner's side: blocks until there is a task. */
  waitForTask(): void {
    Atomics.store(this.#cells, CELL.ready, 1);
    const begun = performance.now();
    if (this.#hurried) spin(SPIN_MS, () => !this.#isDone);
    while (this.#isDone) Atomics.wait(this.#cells, CELL.begun, Atomics.load(this.#cells, CELL.done));
    this.#hurried = performance.now() - begun < SPIN_MS;
  }

  task(): { scan: Scan; topK: number; partOf: (part: number) => NumberedPart } {
    const cells = this.#cells;
    const [scale, norm, slack] = this.#floats as unknown as [number, number, number];
    const passedWords = cells[CELL.passedWords] as number;
    const scan: Scan = {
      stride: cells[CELL.stride] as number,
      query: { int16: this.#int16, scale, norm, slack },
      isEuclidean: cells[CELL.isEuclidean] === 1,
      passed: passedWords === -1 ? null : this.#passed.subarray(0, passedWords),
      walk: cells[CELL.walk] as Walk,
    };
    const cell = (part: number, place: number) => this.#parts[part * PART_CELLS + place] as number;
    const partOf = (part: number) => ({
      arena: cell(part, PART.arena),
      small: cell(part, PART.small),
      start: cell(part, PART.start),
      count: cell(part, PART.count),
    });
    return { scan, topK: cells[CELL.topK] as number, partOf };
  }

  /** What the partner found; then it is idle. */
  finish(candidates: Candidates): void {
    const { rows, uppers, lowers } = candidates.found();
    const fits = rows.length <= FOUND_MAX;
    if (fits) {
      this.#rows.set(rows);
      this.#uppers.set(uppers);
      this.#lowers.set(lowers);
    }
    this.#cells[CELL.found] = fits ? rows.length : TOO_MANY;
    this.#cells[CELL.lowers] = lowers.length;
    Atomics.store(this.#cells, CELL.done, Atomics.load(this.#cells, CELL.begun));
    Atomics.notify(this.#cells, CELL.done);
  }
}
