// The block kind of samples. A committed block has one section; a merged block has one for each bucket of series. So a query of one metric reads
// a small part of a merged block. The name of every series is a mark.

import type { BlockDraft, BlockKind, StoredBlock } from '../../../blocks/block.ts';
import { ByteReader, ByteWriter } from '../../../blocks/bytes.ts';
import { Marks } from '../../../blocks/marks.ts';
import { HOUR_MS } from '../../../lib/time.ts';
import { BUCKETS, bucketOf, markOf } from '../series/identity.ts';
import { mergeSamples, readChunk, type Samples, writeChunk } from './chunk.ts';
import { chunksOf, packSection, type Section, unpackSection } from './section.ts';

const FRESH_COLUMN = 'all';

export const samplesKind: BlockKind = {
  name: 'metrics',
  source: import.meta.url,
  exportName: 'samplesKind',
  spanMs: 2 * HOUR_MS,
  recordsMax: 500_000,
  keepDays: { standard: 15, max: 90 },
  hotDays: null,
  merge,
};

/** The columns that may hold chunks of series with these IDs. */
export function columnsOf(ids: Iterable<string>): string[] {
  const buckets = new Set<number>();
  for (const id of ids) buckets.add(bucketOf(id));
  return [FRESH_COLUMN, ...[...buckets].map(bucketColumn)];
}

const bucketColumn = (bucket: number) => `b${bucket}`;

export interface FreshSamples {
  readonly fromMs: number;
  readonly toMs: number;
  readonly records: number;
}

/** A block as a commit writes it. */
export function freshDraft(
  { fromMs, toMs, records }: FreshSamples,
  ids: readonly string[],
  packed: Buffer,
): BlockDraft {
  const columns = new Map([[FRESH_COLUMN, packed]]);
  return { fromMs, toMs, records, summary: Buffer.alloc(0), marks: marksOf(ids), columns };
}

function marksOf(ids: readonly string[]): Buffer {
  const marks = new Marks();
  for (const id of ids) marks.add(markOf(id));
  return marks.pack();
}

/** The chunks of wanted series in blocks, which are in the order of their IDs. */
export function* chunksIn(
  blocks: readonly StoredBlock[],
  isWanted?: (id: string) => boolean,
): Generator<readonly [id: string, chunk: Buffer]> {
  for (const { columns } of blocks) {
    for (const packed of columns.values()) yield* chunksOf(unpackSection(packed), isWanted);
  }
}

function merge(blocks: readonly StoredBlock[]): BlockDraft[] {
  const chunks = new Map<string, Buffer[]>();
  for (const [id, chunk] of chunksIn(blocks)) {
    const of = chunks.get(id);
    if (of === undefined) chunks.set(id, [chunk]);
    else of.push(chunk);
  }
  const buckets: string[][] = Array.from({ length: BUCKETS }, () => []);
  for (const id of chunks.keys()) buckets[bucketOf(id)]?.push(id);
  const drafts: MergedBlock[] = [];
  for (const [bucket, ids] of buckets.entries()) {
    for (const id of ids.sort()) {
      const samples = samplesOf(chunks.get(id) as Buffer[]);
      for (const part of partsOf(samples)) placeIn(drafts, part.times.length).add(bucket, id, part);
    }
  }
  return drafts.map((draft) => draft.pack());
}

/** What all chunks of a series say together, the later ones before the earlier ones. */
export function samplesOf(chunks: readonly Buffer[]): Samples {
  // Pairwise, neighbours first: each sample is copied a few times, however many chunks there are.
  let parts = chunks.map((chunk) => readChunk(new ByteReader(chunk)));
  while (parts.length > 1) {
    parts = Array.from({ length: Math.ceil(parts.length / 2) }, (_, i) => {
      const [one, other] = [parts[2 * i] as Samples, parts[2 * i + 1]];
      return other === undefined ? one : mergeSamples(one, other);
    });
  }
  return parts[0] as Samples;
}

/** A series of more samples than a block takes: one a millisecond has millions in two hours. */
function partsOf({ times, values }: Samples): Samples[] {
  const { recordsMax } = samplesKind;
  return Array.from({ length: Math.ceil(times.length / recordsMax) }, (_, i) => ({
    times: times.subarray(i * recordsMax, (i + 1) * recordsMax),
    values: values.subarray(i * recordsMax, (i + 1) * recordsMax),
  }));
}

function placeIn(drafts: MergedBlock[], records: number): MergedBlock {
  const last = drafts.at(-1);
  if (last !== undefined && last.records + records <= samplesKind.recordsMax) return last;
  const next = new MergedBlock();
  drafts.push(next);
  return next;
}

class MergedBlock {
  records = 0;
  #fromMs = Number.POSITIVE_INFINITY;
  #toMs = 0;
  readonly #ids: string[] = [];
  readonly #sections = new Map<number, { ids: string[]; lengths: number[]; out: ByteWriter }>();

  add(bucket: number, id: string, samples: Samples): void {
    const { times } = samples;
    let section = this.#sections.get(bucket);
    if (section === undefined) {
      section = { ids: [], lengths: [], out: new ByteWriter() };
      this.#sections.set(bucket, section);
    }
    const before = section.out.length;
    writeChunk(section.out, samples);
    section.lengths.push(section.out.length - before);
    section.ids.push(id);
    this.#ids.push(id);
    this.records += times.length;
    this.#fromMs = Math.min(this.#fromMs, times[0] as number);
    this.#toMs = Math.max(this.#toMs, times.at(-1) as number);
  }

  pack(): BlockDraft {
    const columns = new Map<string, Buffer>();
    for (const [bucket, { ids, lengths, out }] of this.#sections) {
      const section: Section = { ids, lengths, chunks: out.writtenBytes() };
      columns.set(bucketColumn(bucket), packSection(section));
    }
    const [fromMs, toMs, records] = [this.#fromMs, this.#toMs, this.records];
    return { fromMs, toMs, records, summary: Buffer.alloc(0), marks: marksOf(this.#ids), columns };
  }
}
