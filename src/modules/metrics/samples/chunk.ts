// Encoding of a chunk: samples of one series, ascending, one for each time. Times are second differences (empty when regular). Values that a
// power of ten makes whole are stored as differences. Where that is not exact to the bit, each value is XORed with the previous one. The XORed
// values are stored by byte planes: all first bytes, all second bytes … (the section that holds the chunk is compressed afterwards).
import type { ByteReader, ByteWriter } from '../../../blocks/bytes.ts';

export interface Samples {
  /** Epoch milliseconds, ascending. */
  readonly times: Float64Array;
  /** Also NaN with what it carries, such as the marker of staleness. */
  readonly values: Float64Array;
}

const REGULAR = 0;
const IRREGULAR = 1;
const SCALES = [1, 10, 100, 1_000];
const PLANES = SCALES.length;
/** Differences of two such numbers are exact, and so is twice of them. */
const SCALED_MAX = 2 ** 50;

export function writeChunk(out: ByteWriter, { times, values }: Samples): void {
  out.varint(times.length);
  writeTimes(out, times);
  const scale = SCALES.findIndex((each) => isExact(values, each));
  if (scale === -1) writePlanes(out, values);
  else writeScaled(out, values, scale);
}

export function readChunk(source: ByteReader): Samples {
  const count = source.varint();
  const times = readTimes(source, count);
  const mode = source.varint();
  const values = mode === PLANES ? readPlanes(source, count) : readScaled(source, count, SCALES[mode] as number);
  return { times, values };
}

function writeTimes(out: ByteWriter, times: Float64Array): void {
  const first = times[0] as number;
  out.varint(first);
  if (times.length === 1) return;
  let step = (times[1] as number) - first;
  const isRegular = times.every((time, i) => time === first + i * step);
  out.varint(isRegular ? REGULAR : IRREGULAR);
  out.varint(step);
  if (isRegular) return;
  for (let i = 2; i < times.length; i += 1) {
    const next = (times[i] as number) - (times[i - 1] as number);
    out.varint(zigzag(next - step));
    step = next;
  }
}

function readTimes(source: ByteReader, count: number): Float64Array {
  const times = new Float64Array(count);
  let time = source.varint();
  times[0] = time;
  if (count === 1) return times;
  const isRegular = source.varint() === REGULAR;
  let step = source.varint();
  time += step;
  times[1] = time;
  for (let i = 2; i < count; i += 1) {
    if (!isRegular) step += unzigzag(source.varint());
    time += step;
    times[i] = time;
  }
  return times;
}

function isExact(values: Float64Array, scale: number): boolean {
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    const scaled = Math.round(value * scale);
    if (!(Math.abs(scaled) < SCALED_MAX) || Object.is(scaled, -0) || scaled / scale !== value) return false;
  }
  return true;
}

function writeScaled(out: ByteWriter, values: Float64Array, mode: number): void {
  const scale = SCALES[mode] as number;
  out.varint(mode);
  let before = 0;
  for (let i = 0; i < values.length; i += 1) {
    const scaled = Math.round((values[i] as number) * scale);
    out.varint(zigzag(scaled - before));
    before = scaled;
  }
}

function readScaled(source: ByteReader, count: number, scale: number): Float64Array {
  const values = new Float64Array(count);
  let scaled = 0;
  for (let i = 0; i < count; i += 1) {
    scaled += unzigzag(source.varint());
    values[i] = scaled / scale;
  }
  return values;
}

function writePlanes(out: ByteWriter, values: Float64Array): void {
  out.varint(PLANES);
  const count = values.length;
  const bytes = new Uint8Array(values.buffer, values.byteOffset, count * 8);
  const planes = new Uint8Array(count * 8);
  for (let plane = 0; plane < 8; plane += 1) {
    let before = 0;
    for (let i = 0, at = plane * count, from = plane; i < count; i += 1, from += 8) {
      const byte = bytes[from] as number;
      planes[at + i] = byte ^ before;
      before = byte;
    }
  }
  out.bytes(planes);
}

function readPlanes(source: ByteReader, count: number): Float64Array {
  const values = new Float64Array(count);
  const bytes = new Uint8Array(values.buffer);
  const planes = source.bytes(count * 8);
  for (let plane = 0; plane < 8; plane += 1) {
    let before = 0;
    for (let i = 0, at = plane * count, to = plane; i < count; i += 1, to += 8) {
      before ^= planes[at + i] as number;
      bytes[to] = before;
    }
  }
  return values;
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** The samples of both; where both have a time, `later` has the word. */
export function mergeSamples(earlier: Samples, later: Samples): Samples {
  if (earlier.times.length === 0) return later;
  if ((earlier.times.at(-1) as number) < (later.times[0] as number)) return joinSamples(earlier, later);
  const room = earlier.times.length + later.times.length;
  const times = new Float64Array(room);
  const values = new Float64Array(room);
  let [i, j, count] = [0, 0, 0];
  while (i < earlier.times.length || j < later.times.length) {
    const one = earlier.times[i] ?? Number.POSITIVE_INFINITY;
    const other = later.times[j] ?? Number.POSITIVE_INFINITY;
    times[count] = Math.min(one, other);
    copyBits(values, count, ...(other <= one ? ([later.values, j] as const) : ([earlier.values, i] as const)));
    if (one <= other) i += 1;
    if (other <= one) j += 1;
    count += 1;
  }
  return { times: times.slice(0, count), values: values.slice(0, count) };
}

function joinSamples(earlier: Samples, later: Samples): Samples {
  const both = (one: Float64Array, other: Float64Array) => {
    const whole = new Float64Array(one.length + other.length);
    whole.set(one);
    whole.set(other, one.length);
    return whole;
  };
  return { times: both(earlier.times, later.times), values: both(earlier.values, later.values) };
}

/** As an array copies, and no number does: what a NaN carries may be lost on the way through a variable. */
export function copyBits(to: Float64Array, at: number, from: Float64Array, index: number): void {
  to.set(from.subarray(index, index + 1), at);
}
