// Vectors of an upsert in packed buffers, as a thread hands them over and as they go to the database; no object per number.
import { invalidField } from '../../../problems/problem.ts';
import { lengthOf, type SentEmbedding, writeEmbedding } from '../items/embedding.ts';
import { metadataText } from '../items/metadata.ts';
import { ID_BYTES_MAX } from '../limits.ts';

export interface SentVector {
  readonly id: string;
  readonly embedding: SentEmbedding;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

export interface PackedVectors {
  /** In the order sent; of repeated ids only the last. */
  readonly ids: readonly string[];
  /** Little-endian f32 of each, one after the other. */
  readonly floats: Uint8Array<ArrayBuffer>;
  /** Where each ends in `floats`, bytes. */
  readonly floatEnds: readonly number[];
  /** JSON text of each, one after the other. */
  readonly metadata: Uint8Array<ArrayBuffer>;
  /** Where each ends in `metadata`, bytes; one without metadata takes none. */
  readonly metadataEnds: readonly number[];
  /** Of all that were sent, the overwritten ones included: numbers of each embedding. */
  readonly lengths: readonly number[];
  /** Places, among all that were sent, of those whose numbers are all zero. */
  readonly zeros: readonly number[];
}

/** Throws VALIDATION_FAILED with the path of what is wrong. */
export function packVectors(sent: readonly SentVector[]): PackedVectors {
  const last = new Map(sent.map(({ id }, i) => [id, i]));
  const lengths = sent.map(({ embedding }, i) => lengthOf(embedding, `vectors[${i}].embedding`));
  const floats = new Float32Array(lengths.reduce((sum, length) => sum + length, 0));
  const texts: string[] = [];
  const ids: string[] = [];
  const floatEnds: number[] = [];
  const zeros: number[] = [];
  let at = 0;
  sent.forEach((vector, i) => {
    refuseLongId(vector.id, `vectors[${i}].id`);
    const end = at + (lengths[i] as number);
    if (writeEmbedding(vector.embedding, floats.subarray(at, end), `vectors[${i}].embedding`)) zeros.push(i);
    const text = vector.metadata == null ? '' : metadataText(vector.metadata, `vectors[${i}].metadata`);
    if (last.get(vector.id) !== i) return;
    ids.push(vector.id);
    texts.push(text);
    floatEnds.push(end * Float32Array.BYTES_PER_ELEMENT);
    at = end;
  });
  const used = new Uint8Array(floats.buffer, 0, at * Float32Array.BYTES_PER_ELEMENT);
  return { ids, floats: used, floatEnds, ...packTexts(texts), lengths, zeros };
}

function packTexts(texts: readonly string[]): Pick<PackedVectors, 'metadata' | 'metadataEnds'> {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const metadata = Buffer.from(new ArrayBuffer(bytes));
  let at = 0;
  const metadataEnds = texts.map((text) => {
    at += metadata.write(text, at);
    return at;
  });
  return { metadata, metadataEnds };
}

export function refuseLongId(id: string, at: string): void {
  if (Buffer.byteLength(id) > ID_BYTES_MAX)
    throw invalidField(at, 'too_long', `${at} has more than ${ID_BYTES_MAX} bytes.`);
}

/** Bytes of one vector, for the database. */
export function embeddingAt({ floats, floatEnds }: PackedVectors, i: number): Buffer {
  return slice(floats, floatEnds, i);
}

/** JSON text of one vector's metadata as UTF-8, for the database; null without metadata. */
export function metadataAt({ metadata, metadataEnds }: PackedVectors, i: number): Buffer | null {
  const bytes = slice(metadata, metadataEnds, i);
  return bytes.length === 0 ? null : bytes;
}

function slice(all: Uint8Array<ArrayBuffer>, ends: readonly number[], i: number): Buffer {
  const start = i === 0 ? 0 : (ends[i - 1] as number);
  return Buffer.from(all.buffer, all.byteOffset + start, (ends[i] as number) - start);
}
