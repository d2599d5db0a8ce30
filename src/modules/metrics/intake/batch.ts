// The parsed form of an ingest body: its series, their samples as chunks by block span, and the refused samples. A thread hands it over as a few
// long texts and buffers, not as thousands of objects.
import { ByteWriter } from '../../../blocks/bytes.ts';
import { HOUR_MS } from '../../../lib/time.ts';
import { AHEAD_MS, HELP_CHARACTERS_MAX, LABEL_CHARACTERS_MAX, type MetricType, SAMPLES_MAX } from '../limits.ts';
import { copyBits, type Samples, writeChunk } from '../samples/chunk.ts';
import { freshDraft, samplesKind } from '../samples/kind.ts';
import { packSection, type Section } from '../samples/section.ts';
import { SERIES_ID_BYTES, type SeriesIdentity } from '../series/identity.ts';
import { wrongName } from './series-from.ts';

/** Samples of one span. */
export interface BatchPart {
  readonly fromMs: number;
  readonly toMs: number;
  readonly records: number;
  readonly section: Section;
  /** The section and the marks as a block has them, made in the thread; null: by who writes it. */
  readonly packed: { readonly section: Uint8Array; readonly marks: Uint8Array } | null;
}

/** A difference since the sample before: what it adds up to is known under the lock only. */
export interface Difference {
  /** Place of its series in the batch. */
  readonly series: number;
  readonly timeMs: number;
  readonly value: number;
}

export interface MetricInfo {
  readonly name: string;
  readonly type: MetricType | null;
  readonly help: string | null;
  readonly unit: string | null;
}

export interface Refusal {
  /** Which of the points that were sent, from 0. */
  readonly index: number;
  readonly reason: string;
}

export interface SampleBatch {
  /** IDs one behind the other; names and labels separated by newlines, which neither holds. */
  readonly ids: string;
  readonly names: string;
  readonly labels: string;
  /** Hours since 1970 of the first and the last sample of each series. */
  readonly firstHours: Int32Array;
  readonly lastHours: Int32Array;
  readonly parts: readonly BatchPart[];
  readonly differences: readonly Difference[];
  readonly metrics: readonly MetricInfo[];
  /** Of each sample, in the order in which they were sent: its series, and which of the points it is. */
  readonly seriesOfSample: Int32Array;
  readonly pointOfSample: Int32Array;
  readonly timeOfSample: Float64Array;
  readonly refused: readonly Refusal[];
  readonly refusedCount: number;
}

export const seriesCount = ({ firstHours }: Pick<SampleBatch, 'firstHours'>) => firstHours.length;
export const seriesId = ({ ids }: Pick<SampleBatch, 'ids'>, i: number) =>
  ids.slice(i * SERIES_ID_BYTES, (i + 1) * SERIES_ID_BYTES);

/** Refusals that are kept; of more only their number is. */
const REFUSALS_KEPT = 1_000;

interface Collected {
  readonly identity: SeriesIdentity;
  readonly isDifference: boolean;
}

const one = new Float64Array(1);
const oneBits = new Uint32Array(one.buffer);

export class BatchBuilder {
  readonly #series: Collected[] = [];
  readonly #known = new Map<string, number>();
  readonly #differences: Difference[] = [];
  readonly #metrics = new Map<string, MetricInfo>();
  readonly #refused: Refusal[] = [];
  readonly #latestMs: number;
  #refusedCount = 0;
  #sent = 0;
  readonly #seriesOfSample: number[] = [];
  readonly #pointOfSample: number[] = [];
  readonly #timeOfSample: number[] = [];
  /** Two halves of each value, the lower first: what a NaN carries may be lost on the way through a number. */
  readonly #bitsOfSample: number[] = [];

  constructor(nowMs: number) {
    this.#latestMs = nowMs + AHEAD_MS;
  }

  get samples(): number {
    return this.#seriesOfSample.length;
  }

  /** The place of the next samples, counted as they are sent. */
  countSent(count: number): number {
    this.#sent += count;
    return this.#sent - count;
  }

  refuse(index: number, reason: string, count = 1): void {
    this.#refusedCount += count;
    if (this.#refused.length < REFUSALS_KEPT) this.#refused.push({ index, reason });
  }

  /** The place of a series. */
  seriesOf(identity: SeriesIdentity, isDifference = false): number {
    const known = this.#known.get(identity.id);
    if (known !== undefined) return known;
    this.#known.set(identity.id, this.#series.length);
    this.#series.push({ identity, isDifference });
    return this.#series.length - 1;
  }

  /** `index`: of the point as it was sent. */
  add(series: number, timeMs: number, value: number, index: number): void {
    one[0] = value;
    this.addBits(series, timeMs, oneBits[0] as number, oneBits[1] as number, index);
  }

  /** The same with the bits of the value, the lower half first. */
  addBits(series: number, timeMs: number, low: number, high: number, index: number): void {
    if (!(timeMs >= 0) || timeMs > this.#latestMs) {
      this.refuse(index, timeMs >= 0 ? 'its time is more than 10 minutes ahead' : 'its time is before 1970');
      return;
    }
    this.#seriesOfSample.push(series);
    this.#pointOfSample.push(index);
    this.#timeOfSample.push(timeMs);
    this.#bitsOfSample.push(low, high);
    if (!this.#series[series]?.isDifference) return;
    oneBits[0] = low;
    oneBits[1] = high;
    this.#differences.push({ series, timeMs, value: one[0] as number });
  }

  /** What is too long is cut; a name that is none is passed over, and so is what is told beyond so many. */
  describe({ name, type, help, unit }: MetricInfo): void {
    const isNew = !this.#metrics.has(name);
    if (wrongName(name) !== null || (isNew && this.#metrics.size >= SAMPLES_MAX)) return;
    this.#metrics.set(name, {
      name,
      type,
      help: plain(help, HELP_CHARACTERS_MAX),
      unit: plain(unit, LABEL_CHARACTERS_MAX),
    });
  }

  /** `isLong`: it is in a thread, where sections are packed too. */
  build(isLong: boolean): SampleBatch {
    const kept = this.#series;
    return {
      ids: kept.map(({ identity }) => identity.id).join(''),
      names: kept.map(({ identity }) => identity.name).join('\n'),
      labels: kept.map(({ identity }) => identity.labels).join('\n'),
      ...this.#hours(),
      parts: this.#parts(isLong),
      differences: this.#differences,
      metrics: [...this.#metrics.values()],
      seriesOfSample: Int32Array.from(this.#seriesOfSample),
      pointOfSample: Int32Array.from(this.#pointOfSample),
      timeOfSample: Float64Array.from(this.#timeOfSample),
      refused: this.#refused,
      refusedCount: this.#refusedCount,
    };
  }

  #hours(): Pick<SampleBatch, 'firstHours' | 'lastHours'> {
    const firstHours = new Int32Array(this.#series.length).fill(-1);
    const lastHours = firstHours.slice();
    for (const [i, series] of this.#seriesOfSample.entries()) {
      const hour = Math.floor((this.#timeOfSample[i] as number) / HOUR_MS);
      const first = firstHours[series] as number;
      if (first === -1 || hour < first) firstHours[series] = hour;
      if (hour > (lastHours[series] as number)) lastHours[series] = hour;
    }
    return { firstHours, lastHours };
  }

  #parts(isLong: boolean): BatchPart[] {
    const { ends, times, values } = this.#bySeries();
    const spans = new Map<number, OpenPart>();
    let start = 0;
    for (const [i, { identity }] of this.#series.entries()) {
      const end = ends[i] as number;
      if (end > start) addSamples(spans, identity.id, inOrder(times.subarray(start, end), values.subarray(start, end)));
      start = end;
    }
    return [...spans.values()].map(({ ids, lengths, out, ...of }) => {
      const section = { ids, lengths, chunks: out.writtenBytes() };
      return { ...of, section, packed: isLong ? packedPart(of, section) : null };
    });
  }

  /** The samples of one series behind those of another, each as it was sent; differences are none. `ends`: of each series. */
  #bySeries(): Samples & { readonly ends: Int32Array } {
    const ends = new Int32Array(this.#series.length);
    const isKept = (series: number) => this.#series[series]?.isDifference === false;
    for (const series of this.#seriesOfSample) if (isKept(series)) ends[series] = (ends[series] as number) + 1;
    let total = 0;
    // First where each begins; filled, that is where it ends.
    for (const [series, count] of ends.entries()) {
      ends[series] = total;
      total += count;
    }
    const [times, values] = [new Float64Array(total), new Float64Array(total)];
    const bits = new Uint32Array(values.buffer);
    for (const [i, series] of this.#seriesOfSample.entries()) {
      if (!isKept(series)) continue;
      const at = ends[series] as number;
      times[at] = this.#timeOfSample[i] as number;
      bits[at * 2] = this.#bitsOfSample[i * 2] as number;
      bits[at * 2 + 1] = this.#bitsOfSample[i * 2 + 1] as number;
      ends[series] = at + 1;
    }
    return { ends, times, values };
  }
}

interface OpenPart {
  fromMs: number;
  toMs: number;
  records: number;
  readonly ids: string[];
  readonly lengths: number[];
  readonly out: ByteWriter;
}

const spanOf = (timeMs: number) => Math.floor(timeMs / samplesKind.spanMs);

function addSamples(spans: Map<number, OpenPart>, id: string, { times, values }: Samples): void {
  for (let start = 0, end = 0; start < times.length; start = end) {
    const span = spanOf(times[start] as number);
    while (end < times.length && spanOf(times[end] as number) === span) end += 1;
    addChunk(spans, span, id, times.subarray(start, end), values.subarray(start, end));
  }
}

function packedPart(of: { fromMs: number; toMs: number; records: number }, section: Section): BatchPart['packed'] {
  const packed = packSection(section);
  return { section: packed, marks: freshDraft(of, section.ids, packed).marks };
}

function addChunk(spans: Map<number, OpenPart>, span: number, id: string, times: Float64Array, values: Float64Array) {
  const part = spans.get(span) ?? {
    fromMs: Number.POSITIVE_INFINITY,
    toMs: 0,
    records: 0,
    ids: [],
    lengths: [],
    out: new ByteWriter(),
  };
  spans.set(span, part);
  const before = part.out.length;
  writeChunk(part.out, { times, values });
  part.ids.push(id);
  part.lengths.push(part.out.length - before);
  part.records += times.length;
  part.fromMs = Math.min(part.fromMs, times[0] as number);
  part.toMs = Math.max(part.toMs, times.at(-1) as number);
}

/** By time; of several with one time the last that was sent. */
function inOrder(times: Float64Array, values: Float64Array): Samples {
  const isAscending = times.every((time, i) => i === 0 || time > (times[i - 1] as number));
  if (isAscending) return { times, values };
  const order = Array.from(times.keys()).sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
  const last = order.filter((at, i) => times[at] !== times[order[i + 1] ?? -1]);
  const sorted = new Float64Array(last.length);
  for (const [i, at] of last.entries()) copyBits(sorted, i, values, at);
  return { times: Float64Array.from(last, (at) => times[at] as number), values: sorted };
}

function plain(text: string | null, charactersMax: number): string | null {
  return text === null || text === '' ? null : text.slice(0, charactersMax).toWellFormed().replaceAll('\0', '');
}
