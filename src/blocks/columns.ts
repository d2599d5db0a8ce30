// Column encoding of blocks: a byte that says whether zstd follows, the unpacked length, and the values in little-endian. Values are compressed
// only if that makes them shorter. The decoder trusts its input, since only this service packs it.
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { ByteReader, ByteWriter } from './bytes.ts';

const PLAIN = 0;
const ZSTD = 1;
/** What is shorter gains too little to be worth a compressor. */
const COMPRESSED_BYTES_MIN = 96;
const zstd = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Differences beyond are kept as they are: twice of them is no exact number any more. */
const DELTA_MAX = 2 ** 51;
const DELTAS = 0;
const FLOATS = 1;

/** Whole numbers below 2^53 in any order; short when each is near the one before. */
export function packIntegers(values: ArrayLike<number>): Buffer {
  const out = new ByteWriter();
  out.varint(values.length);
  let before = 0;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    if (Math.abs(value - before) > DELTA_MAX) return frameValues(floats(FLOATS, values));
    before = value;
  }
  out.varint(DELTAS);
  before = 0;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    const delta = value - before;
    out.varint(delta < 0 ? -2 * delta - 1 : 2 * delta);
    before = value;
  }
  return frameValues(out.writtenBytes());
}

export function unpackIntegers(packed: Uint8Array): Float64Array {
  const source = openFrame(packed);
  const count = source.varint();
  if (source.varint() === FLOATS) return floatsOf(source, count);
  return source.deltas(count);
}

/** Any numbers, bit by bit: also NaN with what it carries. */
export function packNumbers(values: ArrayLike<number>): Buffer {
  return frameValues(floats(FLOATS, values));
}

export function unpackNumbers(packed: Uint8Array): Float64Array {
  return unpackIntegers(packed);
}

function floats(kind: number, values: ArrayLike<number>): Buffer {
  const out = new ByteWriter();
  out.varint(values.length);
  out.varint(kind);
  const numbers = values instanceof Float64Array ? values : Float64Array.from(values);
  out.bytes(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
  return out.writtenBytes();
}

function floatsOf(source: ByteReader, count: number): Float64Array {
  // Copied: a Float64Array begins at a multiple of eight.
  const bytes = Uint8Array.from(source.bytes(count * 8));
  return new Float64Array(bytes.buffer, 0, count);
}

/** Texts one behind the other. */
export class Texts {
  /** UTF-8 of all of them. */
  readonly joined: Buffer;
  /** Where each ends in it, in bytes. */
  readonly ends: Uint32Array;

  constructor(joined: Buffer, ends: Uint32Array) {
    this.joined = joined;
    this.ends = ends;
  }

  get length(): number {
    return this.ends.length;
  }

  at(i: number): string {
    return this.joined.toString('utf8', i === 0 ? 0 : this.ends[i - 1], this.ends[i]);
  }
}

/** Texts are well-formed: no half of a surrogate pair. */
export function packTexts(values: readonly string[]): Buffer {
  const out = new ByteWriter();
  writeTexts(out, values);
  return frameValues(out.writtenBytes());
}

export function unpackTexts(packed: Uint8Array): Texts {
  return readTexts(openFrame(packed));
}

/** Values that come again and again, each once, and which of them stands where. */
export interface Dictionary {
  readonly values: readonly (string | null)[];
  readonly ids: Uint32Array;
}

export function packDictionary(values: readonly (string | null)[]): Buffer {
  const ids = new Uint32Array(values.length);
  const known = new Map<string | null, number>();
  for (const [i, value] of values.entries()) {
    let id = known.get(value);
    if (id === undefined) {
      id = known.size;
      known.set(value, id);
    }
    ids[i] = id;
  }
  return packIds({ values: [...known.keys()], ids });
}

/** The same of what has its dictionary already. Null at most once. */
export function packIds({ values, ids }: Dictionary): Buffer {
  const out = new ByteWriter();
  // One more than its place; 0: there is none.
  out.varint(values.indexOf(null) + 1);
  writeTexts(
    out,
    values.map((value) => value ?? ''),
  );
  out.varint(ids.length);
  const narrow = values.length <= 256 ? Uint8Array.from(ids) : values.length <= 65_536 ? Uint16Array.from(ids) : ids;
  out.bytes(new Uint8Array(narrow.buffer, narrow.byteOffset, narrow.byteLength));
  return frameValues(out.writtenBytes());
}

export function unpackDictionary(packed: Uint8Array): Dictionary {
  const source = openFrame(packed);
  const nullAt = source.varint() - 1;
  const texts = readTexts(source);
  const values = Array.from(texts.ends, (_, i) => (i === nullAt ? null : texts.at(i)));
  const count = source.varint();
  // Copied to the beginning of a buffer: longer numbers begin at multiples of their size.
  const bytes = Uint8Array.from(source.rest());
  if (values.length <= 256) return { values, ids: Uint32Array.from(bytes.subarray(0, count)) };
  if (values.length <= 65_536) return { values, ids: Uint32Array.from(new Uint16Array(bytes.buffer, 0, count)) };
  return { values, ids: new Uint32Array(bytes.buffer, 0, count) };
}

/** Bytes of a form of their own. */
export function packBytes(bytes: Uint8Array): Buffer {
  return frameValues(bytes);
}

export function unpackBytes(packed: Uint8Array): Buffer {
  return openFrame(packed).rest();
}

function writeTexts(out: ByteWriter, values: readonly string[]): void {
  out.varint(values.length);
  const joined = values.join('');
  const bytes = Buffer.byteLength(joined);
  const isAscii = bytes === joined.length;
  for (const value of values) out.varint(isAscii ? value.length : Buffer.byteLength(value));
  out.varint(bytes);
  out.text(joined);
}

function readTexts(source: ByteReader): Texts {
  const ends = new Uint32Array(source.varint());
  let end = 0;
  for (let i = 0; i < ends.length; i += 1) {
    end += source.varint();
    ends[i] = end;
  }
  return new Texts(source.bytes(source.varint()), ends);
}

/** A copy: what is packed may be views of what goes on being written. */
function frameValues(values: Uint8Array): Buffer {
  if (values.length >= COMPRESSED_BYTES_MIN) {
    const compressed = zstdCompressSync(values, zstd);
    if (compressed.length < values.length) return frame(ZSTD, values.length, compressed);
  }
  return frame(PLAIN, values.length, values);
}

function frame(kind: number, length: number, bytes: Uint8Array): Buffer {
  const head = new ByteWriter();
  head.varint(kind);
  head.varint(length);
  return Buffer.concat([head.writtenBytes(), bytes]);
}

/** Bytes of what a packed column unfolds to. */
export function unfoldedBytes(packed: Uint8Array): number {
  const source = new ByteReader(packed);
  source.varint();
  return source.varint();
}

function openFrame(packed: Uint8Array): ByteReader {
  const source = new ByteReader(packed);
  const isCompressed = source.varint() === ZSTD;
  const length = source.varint();
  if (!isCompressed) return new ByteReader(source.bytes(length));
  // In one piece of the length that it has.
  return new ByteReader(zstdDecompressSync(source.rest(), { chunkSize: Math.max(64, length) }));
}
