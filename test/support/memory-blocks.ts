// Blocks in memory, listed and read by the rules of the table of blocks, so that thousands of questions can be asked in a minute: by time and marks,
// columns that are not asked for stay away, the summary too, and what goes to a task and comes back is cloned as on the way to a thread.
import type { BlockDraft, BlockKind, BlockRef, ScanTask, StoredBlock } from '../../src/blocks/block.ts';
import { unfoldedBytes } from '../../src/blocks/columns.ts';
import type { BlockQuestion } from '../../src/blocks/list.ts';
import { BUCKET_BYTES, markPlace, mayHold } from '../../src/blocks/marks.ts';
import { perform } from '../../src/blocks/work.ts';
import { sequenceAt } from '../../src/lib/sequence.ts';

interface Kept {
  readonly ref: BlockRef;
  readonly draft: BlockDraft;
}

interface Work {
  readonly source: string;
  readonly exportName: string;
  readonly columns: readonly string[] | null;
  readonly args?: unknown;
}

const PIECE_BLOCKS = 3;

export class MemoryBlocks {
  readonly #kind: BlockKind;
  #kept: Kept[] = [];

  constructor(kind: BlockKind) {
    this.#kind = kind;
  }

  get levels(): readonly number[] {
    return this.#kept.map(({ ref }) => ref.level);
  }

  add(blockId: bigint, draft: BlockDraft, level = 0): void {
    const { fromMs, toMs, records, summary, columns } = draft;
    if (Math.floor(fromMs / this.#kind.spanMs) !== Math.floor(toMs / this.#kind.spanMs))
      throw new Error('a block reaches into two spans');
    const bytes = columns.values().reduce((sum, packed) => sum + unfoldedBytes(packed), 0);
    const ref = {
      blockId,
      seq: sequenceAt(fromMs),
      fromMs,
      toMs,
      records,
      bytes,
      level,
      summary: Buffer.from(summary),
    };
    this.#kept.push({ ref, draft });
  }

  /** Merges neighbours of a span, in the order of their IDs: `most` at once, where `isTaken` says so. */
  merge(most: number, isTaken: () => boolean): void {
    const spans = Map.groupBy(this.#kept, ({ ref }) => Math.floor(ref.fromMs / this.#kind.spanMs));
    for (const kept of spans.values()) {
      kept.sort(({ ref: a }, { ref: b }) => (a.blockId < b.blockId ? -1 : 1));
      for (let from = 0; from < kept.length; from += most) {
        const some = kept.slice(from, from + most);
        if (some.length > 1 && isTaken()) this.#replace(some, (blocks) => this.#kind.merge(blocks));
      }
    }
  }

  /** What `make` leaves of each block takes its place. */
  rewrite(make: (blocks: readonly StoredBlock[]) => readonly BlockDraft[]): void {
    for (const kept of [...this.#kept]) this.#replace([kept], make);
  }

  #replace(some: readonly Kept[], make: (blocks: readonly StoredBlock[]) => readonly BlockDraft[]): void {
    const drafts = make(some.map((kept) => storedBlock(kept, null)));
    this.#kept = this.#kept.filter((each) => !some.includes(each));
    const level = Math.max(...some.map(({ ref }) => ref.level)) + 1;
    for (const [i, draft] of drafts.entries()) this.add((some[i] as Kept).ref.blockId, draft, level);
  }

  async list(_accountId: string, question: BlockQuestion): Promise<BlockRef[]> {
    const { fromMs, toMs, marks = [], withSummary = false } = question;
    const places = marks.map(markPlace);
    const found = this.#kept.filter(({ ref, draft }) => {
      if (toMs <= fromMs || ref.fromMs >= Math.ceil(toMs) || ref.toMs < Math.floor(fromMs)) return false;
      const buckets = draft.marks.length / BUCKET_BYTES;
      return places.every((place) => {
        const at = (place.bucket % buckets) * BUCKET_BYTES;
        return buckets === 0 || mayHold(draft.marks.subarray(at, at + BUCKET_BYTES), place);
      });
    });
    const refs = found.map(({ ref }) => ({ ...ref, summary: withSummary ? ref.summary : null }));
    return refs.sort((a, b) => Number(a.seq - b.seq) || Number(a.blockId - b.blockId));
  }

  async work<Answer>(_accountId: string, refs: readonly BlockRef[], work: Work): Promise<Answer> {
    const blocks = refs.map((ref) => {
      const kept = this.#kept.find(({ ref: own }) => own.blockId === ref.blockId && own.seq === ref.seq);
      if (kept === undefined || kept.ref.level !== ref.level) throw new Error(`no block ${ref.blockId}`);
      return storedBlock(kept, work.columns);
    });
    const { source, exportName } = work;
    return structuredClone(await perform({ source, exportName, blocks, args: structuredClone(work.args) })) as Answer;
  }

  async *scan<Args, Part>(
    accountId: string,
    refs: readonly BlockRef[],
    work: { readonly columns: readonly string[]; readonly task: ScanTask<Args, Part>; readonly args: Args },
  ): AsyncGenerator<Part, void, undefined> {
    const { columns, args, task } = work;
    for (let at = 0; at < refs.length; at += PIECE_BLOCKS) {
      const piece = refs.slice(at, at + PIECE_BLOCKS);
      yield await this.work<Part>(accountId, piece, { source: task.source, exportName: task.id, columns, args });
    }
  }

  async firstKeptMs(): Promise<number> {
    return 0;
  }
}

function storedBlock({ ref, draft }: Kept, columns: readonly string[] | null): StoredBlock {
  const { blockId, fromMs, toMs, records, level } = ref;
  const kept = [...draft.columns].filter(([name]) => columns === null || columns.includes(name));
  return { blockId, fromMs, toMs, records, level, columns: new Map(kept) };
}
