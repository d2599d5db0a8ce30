// A block: records of one account and one kind within one span of time, packed by columns. This folder does not know the format of the records.

/** What a kind makes of records, to be kept. */
export interface BlockDraft {
  /** Times of its first and last record, whole milliseconds, in one span of the kind. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly records: number;
  /** The kind's own, of at most 64 KiB: it is listed without the columns. Empty: none. */
  readonly summary: Uint8Array;
  /** Of Marks; empty: a question for marks never passes it over. */
  readonly marks: Uint8Array;
  /** Packed (columns.ts), by name. */
  readonly columns: ReadonlyMap<string, Uint8Array>;
}

/** A block as it is listed. It can be read for a minute, even if it is merged or moved meanwhile. */
export interface BlockRef {
  readonly blockId: bigint;
  /** With its ID, its key. */
  readonly seq: bigint;
  readonly fromMs: number;
  readonly toMs: number;
  readonly records: number;
  /** Of its columns without their compression. */
  readonly bytes: number;
  /** 0: as it was committed; 1: merged. */
  readonly level: number;
  /** Null: it was not asked for. */
  readonly summary: Buffer | null;
}

export interface StoredBlock {
  readonly blockId: bigint;
  readonly fromMs: number;
  readonly toMs: number;
  readonly records: number;
  readonly level: number;
  /** Those that were asked for and that it has. */
  readonly columns: ReadonlyMap<string, Uint8Array>;
}

export interface BlockKind {
  /** What its blocks are found by in `core.block`. */
  readonly name: string;
  /** URL of the file that exports it, and the name there: threads load it. */
  readonly source: string;
  readonly exportName: string;
  /** Blocks begin and end within one: it divides a day. */
  readonly spanMs: number;
  /** Of a merged block. */
  readonly recordsMax: number;
  readonly keepDays: { readonly standard: number; readonly max: number };
  /** After so many days the columns of its blocks go to the asset store. Null: never. */
  readonly hotDays: number | null;
  /** Blocks of one span with all their columns, in the order of their IDs, to what takes their place; each of at most `recordsMax` records. */
  merge(blocks: readonly StoredBlock[]): BlockDraft[];
}

/** What a question makes of blocks, in a thread. What it answers survives structured cloning. */
export interface ScanTask<Args, Part> {
  /** URL of the file that exports it, and its name there. */
  readonly source: string;
  readonly id: string;
  run(blocks: readonly StoredBlock[], args: Args): Part;
}

export const COLUMNS_MAX = 2_000;
export const SUMMARY_BYTES_MAX = 64 * 1024;

/** The columns as one body, and where each begins. */
export function bodyOf(columns: ReadonlyMap<string, Uint8Array>): { body: Buffer; names: string[]; starts: number[] } {
  const starts = [0];
  for (const { length } of columns.values()) starts.push((starts.at(-1) as number) + length);
  return { body: Buffer.concat([...columns.values()]), names: [...columns.keys()], starts };
}
