// The block store of one kind, as its module uses it: list, scan, and the sweeps for merging and retention.

import type { AssetsPart } from '../assets/assets.ts';
import type { Sweep } from '../core/background/sweeper/sweep.ts';
import type { Core } from '../core/core.ts';
import { clockNow } from '../core/database-clock.ts';
import type { Queryable } from '../db/database.ts';
import { makeDayPartitions } from '../db/partitions.ts';
import { sequenceAt } from '../lib/sequence.ts';
import { DAY_MS, HOUR_MS, startOfDay } from '../lib/time.ts';
import type { BlockKind, BlockRef, ScanTask, StoredBlock } from './block.ts';
import { deletePastBlocks, moveColdBlocks, removeAssets, removeOrphans } from './keep.ts';
import { type BlockQuestion, blocksIn, committedBlocks, type Keeping, keepingOf, saveKeeping } from './list.ts';
import { deleteOldReplaced, type Merging, mergeSmall } from './merge.ts';
import { readBlocks } from './read.ts';
import type { BlocksPart } from './threads.ts';
import { perform } from './work.ts';

/** Of a question: what is read and given to a thread at once. Bytes are without compression. */
const PIECE_BLOCKS = 16;
const PIECE_BYTES = 16 * 1024 * 1024;
/** So little is done here, in less than going to a thread takes. */
const HERE_BYTES = 512 * 1024;
const HERE_RECORDS = 2_000;
/** Pieces of a question that are read or worked on at once. */
const PIECES_AT_ONCE = 2;
const TAIL_MS = 60_000;

interface Work {
  readonly source: string;
  readonly exportName: string;
  /** Null: all. */
  readonly columns: readonly string[] | null;
  readonly args?: unknown;
  /** As in ThreadTime. */
  tooLate?(): Error;
}

export interface ScanWork<Args, Part> {
  readonly columns: readonly string[];
  readonly task: ScanTask<Args, Part>;
  readonly args: Args;
  tooLate(): Error;
}

/** The services that a store of blocks needs. */
export type BlockServices = AssetsPart & BlocksPart & Pick<Core, 'db' | 'log'>;

export class BlockStore {
  readonly #core: BlockServices;
  readonly #kind: BlockKind;
  /** Days whose partitions are there. */
  readonly #days = new Set<number>();

  constructor(core: BlockServices, kind: BlockKind) {
    if (DAY_MS % kind.spanMs !== 0) throw new Error(`the spans of ${kind.name} do not divide a day`);
    this.#core = core;
    this.#kind = kind;
  }

  /** Before blocks with records of these times are sent: their partitions are made, outside of any transaction. */
  async makeDays(timesMs: Iterable<number>): Promise<void> {
    const missing = new Set<number>();
    for (const timeMs of timesMs) {
      const day = startOfDay(timeMs);
      if (!this.#days.has(day)) missing.add(day);
    }
    if (missing.size === 0) return;
    await makeDayPartitions(this.#core.db, 'core.block', [...missing].sort());
    for (const day of missing) this.#days.add(day);
  }

  /** The blocks with records from `fromMs` until before `toMs` that may hold all marks, by the time of their first record. */
  list(accountId: string, question: BlockQuestion): Promise<BlockRef[]> {
    return blocksIn(this.#core.db, this.#kind, accountId, question);
  }

  /** Blocks as they were committed in the last minute, with IDs behind `afterId`, in the order of IDs. They may have been merged since. */
  async tail(accountId: string, afterId: bigint): Promise<BlockRef[]> {
    const recent = sequenceAt((await clockNow(this.#core.db)) - TAIL_MS);
    return committedBlocks(this.#core.db, this.#kind, accountId, afterId > recent ? afterId : recent);
  }

  /** A few blocks with the columns that they have of `columns`, in the order of `refs`. */
  read(accountId: string, refs: readonly BlockRef[], columns: readonly string[]): Promise<StoredBlock[]> {
    return readBlocks(this.#core, this.#kind, accountId, refs, columns);
  }

  /**
   * What the task makes of blocks, some at a time and in the order of `refs`: a little of it here, more in threads, where accounts take turns.
   * Throws what the task throws, the reason of `signal`, CONCURRENCY_LIMITED and OVERLOADED.
   */
  async *scan<Args, Part>(
    accountId: string,
    refs: readonly BlockRef[],
    { columns, task, args, tooLate }: ScanWork<Args, Part>,
    signal: AbortSignal,
  ): AsyncGenerator<Part, void, undefined> {
    const work = { source: task.source, exportName: task.id, columns, args, tooLate };
    const left = new AbortController();
    const both = AbortSignal.any([signal, left.signal]);
    const pieces = piecesOf(refs);
    const running: Promise<Part>[] = [];
    try {
      while (running.length > 0 || pieces.length > 0) {
        while (running.length < PIECES_AT_ONCE && pieces.length > 0) {
          const part = this.work<Part>(accountId, pieces.shift() as BlockRef[], work, both);
          // Its failure is told when it is its turn.
          part.catch(() => undefined);
          running.push(part);
        }
        yield await (running.shift() as Promise<Part>);
      }
    } finally {
      left.abort();
    }
  }

  /** The same of one piece. */
  async work<Answer>(accountId: string, refs: readonly BlockRef[], work: Work, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const prepare = async () => ({
      source: work.source,
      exportName: work.exportName,
      args: work.args,
      blocks: await readBlocks(this.#core, this.#kind, accountId, refs, work.columns),
    });
    const isLittle = sum(refs, 'bytes') <= HERE_BYTES && sum(refs, 'records') <= HERE_RECORDS;
    if (isLittle) return (await perform(await prepare())) as Answer;
    const { tooLate } = work;
    return (await this.#core.blockThreads.run(accountId, prepare, signal, tooLate && { tooLate })) as Answer;
  }

  /** What questions of the account are bounded by. */
  keeping(accountId: string, db: Queryable = this.#core.db): Promise<Keeping> {
    return keepingOf(db, this.#kind, accountId);
  }

  /** Epoch milliseconds: the start of the first day that is kept. */
  async firstKeptMs(accountId: string): Promise<number> {
    return (await this.keeping(accountId)).firstKeptMs;
  }

  async keepDays(db: Queryable, accountId: string): Promise<number> {
    return (await this.keeping(accountId, db)).keepDays;
  }

  /** From now on. What is past the new time is found no more at once, and deleted soon. */
  setKeepDays(tx: Queryable, accountId: string, days: number): Promise<void> {
    return saveKeeping(tx, this.#kind, accountId, days);
  }

  sweeps(): readonly Sweep[] {
    const [core, kind, { db }] = [this.#core, this.#kind, this.#core];
    const sweepOf = (name: string, intervalMs: number, run: Sweep['run']) => ({
      name: `${kind.name}.${name}`,
      intervalMs,
      run,
    });
    const merging: Merging = (accountId, refs, signal) =>
      this.work(accountId, refs, { source: kind.source, exportName: kind.exportName, columns: null }, signal);
    const { hotDays } = kind;
    const from = { after: '' };
    return [
      sweepOf('merge', 10_000, (signal) => mergeSmall(merging, db, kind, signal)),
      sweepOf('replaced', 30_000, (signal) => deleteOldReplaced(db, kind, signal, (keys) => removeAssets(core, keys))),
      sweepOf('retention', 60_000, (signal) => deletePastBlocks(core, kind, signal)),
      ...(hotDays === null
        ? []
        : [
            sweepOf('cold', 60_000, (signal) => moveColdBlocks(core, kind, hotDays, signal)),
            sweepOf('orphans', 6 * HOUR_MS, (signal) => removeOrphans(core, from, signal)),
          ]),
    ];
  }
}

function piecesOf(refs: readonly BlockRef[]): BlockRef[][] {
  const pieces: BlockRef[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const ref of refs) {
    if (bytes + ref.bytes > PIECE_BYTES || (pieces.at(-1)?.length ?? 0) === PIECE_BLOCKS) {
      pieces.push([]);
      bytes = 0;
    }
    pieces.at(-1)?.push(ref);
    bytes += ref.bytes;
  }
  return pieces;
}

function sum(refs: readonly BlockRef[], of: 'bytes' | 'records'): number {
  return refs.reduce((total, ref) => total + ref[of], 0);
}
