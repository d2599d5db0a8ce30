// ngram-1: vectors of the words and letters of a text. Texts that share wording are near each other, also with typos and inflections and in
// any script; synonyms are not. Equal on every machine: no weights are shipped, and every step is exact arithmetic or IEEE 754.
import { setImmediate as turn } from 'node:timers/promises';
import { countTokens } from '../../../lib/chat/tokens.ts';
import type { AiCall, EmbedReply, EmbedRequest } from '../port.ts';

const DIMENSIONS = 512;
const GRAM_MIN = 2;
const GRAM_MAX = 5;
/** Words so short are mostly in every text. */
const SHORT_LETTERS = 3;
const SHORT_WEIGHT = 0.2;
const WORDS_PER_TURN = 500;
/** Longer ones are looked at in part. */
const WORD_LETTERS_MAX = 200;

export async function embed(_call: AiCall, { inputs, dimensions }: EmbedRequest): Promise<EmbedReply> {
  const vectors: Float32Array[] = [];
  let inputTokens = 0;
  for (const input of inputs) {
    if (typeof input !== 'string') {
      const message = 'The sandbox embeds texts, not tokens.';
      return { kind: 'refused', reason: 'VALIDATION_FAILED', breaker: { kind: 'none' }, message, vendorSaid: null };
    }
    vectors.push(await vectorOf(input, dimensions ?? DIMENSIONS));
    inputTokens += countTokens(input);
  }
  const none = { cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0, costUsd: null };
  return { kind: 'embedded', vectors, usage: { ...none, inputTokens } };
}

/** Of unit length; zeros for a text without letters or digits. */
export async function vectorOf(text: string, dimensions: number): Promise<Float32Array> {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const counts = new Map<number, Counted>();
  for (const [i, word] of words.entries()) {
    addWord(counts, word.slice(0, WORD_LETTERS_MAX));
    if (i % WORDS_PER_TURN === WORDS_PER_TURN - 1) await turn();
  }
  return unit(counts, dimensions);
}

interface Counted {
  count: number;
  readonly weight: number;
}

function addWord(counts: Map<number, Counted>, word: string): void {
  const weight = word.length <= SHORT_LETTERS ? SHORT_WEIGHT : 1;
  add(counts, hashOf(word, 1), weight);
  const marked = `^${word}$`;
  for (let length = GRAM_MIN; length <= GRAM_MAX; length += 1) {
    for (let at = 0; at + length <= marked.length; at += 1) {
      add(counts, hashOf(marked.slice(at, at + length), 2), weight * (length / GRAM_MAX) ** 2);
    }
  }
}

function add(counts: Map<number, Counted>, hash: number, weight: number): void {
  const known = counts.get(hash);
  if (known === undefined) counts.set(hash, { count: 1, weight });
  else known.count += 1;
}

/** FNV-1a, with a last mixing so that every bit of it may be used. */
function hashOf(text: string, kind: number): number {
  let hash = 0x811c9dc5 ^ kind;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function unit(counts: ReadonlyMap<number, Counted>, dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (const [hash, { count, weight }] of counts) {
    const at = (hash >>> 1) % dimensions;
    // What is there often counts for more, but not as often.
    const value = weight * Math.sqrt(count);
    sums[at] = (sums[at] as number) + ((hash & 1) === 0 ? value : -value);
  }
  const length = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(sums, (value) => (length === 0 ? 0 : value / length));
}
