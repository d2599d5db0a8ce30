// Decodes sent embeddings (numbers or base64) to little-endian f32: each number is rounded once, to the nearest.
import { invalidField } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';

export type SentEmbedding = readonly number[] | string;

const F32_BYTES = 4;

/** How many numbers it has, if it is well formed. Throws VALIDATION_FAILED for a length that base64 of whole f32s cannot have. */
export function lengthOf(sent: SentEmbedding, at: string): number {
  if (typeof sent !== 'string') return sent.length;
  const padding = sent.endsWith('==') ? 2 : sent.endsWith('=') ? 1 : 0;
  const bytes = (sent.length / 4) * 3 - padding;
  if (sent.length % 4 !== 0 || bytes % F32_BYTES !== 0) throw notBase64(at);
  return bytes / F32_BYTES;
}

/** Writes the numbers into `to`, which has `lengthOf` places. Answers whether all are zero. Throws VALIDATION_FAILED. */
export function writeEmbedding(sent: SentEmbedding, to: Float32Array, at: string): boolean {
  if (typeof sent === 'string') writeBase64(sent, to, at);
  else to.set(sent);
  let isZero = true;
  for (let i = 0; i < to.length; i += 1) {
    const value = to[i] as number;
    if (value !== 0) isZero = false;
    if (!Number.isFinite(value)) {
      throw invalidField(`${at}[${i}]`, 'finite', `${at}[${i}] must be a finite number within the range of 32 bits.`);
    }
  }
  return isZero;
}

/** What the decoder passes over is missing in what it writes; a pattern that looks at each character takes thirty times as long. */
function writeBase64(sent: string, to: Float32Array, at: string): void {
  const written = Buffer.from(to.buffer, to.byteOffset, to.byteLength).write(sent, 'base64');
  const isWhole = written === to.byteLength;
  // The decoder takes the alphabet of URLs too, and of other characters the low byte.
  if (!isWhole || sent.includes('-') || sent.includes('_') || Buffer.byteLength(sent) !== sent.length)
    throw notBase64(at);
}

function notBase64(at: string) {
  return invalidField(at, 'base64', `${at} must be base64 of little-endian 32-bit floats, or an array of numbers.`);
}

/** Throws what an embedding has that the collection does not take. */
export function refuseUnfit(
  embedding: { readonly length: number; readonly isZero: boolean },
  collection: { readonly dimension: number; readonly metric: string },
  at: string,
): void {
  const fault = faultOf(embedding, collection, at);
  if (fault !== null) throw fault;
}

export function faultOf(
  { length, isZero }: { readonly length: number; readonly isZero: boolean },
  { dimension, metric }: { readonly dimension: number; readonly metric: string },
  at: string,
) {
  if (length !== dimension) {
    return problem('DIMENSION_MISMATCH', {
      param: at,
      message: `${at} has ${length} numbers; the collection has dimension ${dimension}.`,
    });
  }
  if (isZero && metric === 'cosine')
    return invalidField(at, 'zero_vector', `${at} is all zeros, which has no direction: cosine cannot compare it.`);
  return null;
}
