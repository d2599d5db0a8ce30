// ngram-1: vectors of the words and letters of a text. Texts that share wording are near each other, also with typos and inflections and in any
// script; synonyms are not. Vectors are equal on every machine: no weights are shipped, and every step is exact arithmetic or IEEE 754. A
// process reads one text at a time, in time slices, whatever its content and sender.
import { setImmediate as turn } from 'node:timers/promises';
import type { AiCall, EmbedReply, EmbedRequest } from '../port.ts';

const DIMENSIONS = 512;
const GRAM_MIN = 2;
const GRAM_MAX = 5;
/** Words so short are mostly in every text. */
const SHORT_LETTERS = 3;
const SHORT_WEIGHT = 0.2;
/** Of longer words and runs of marks the rest is left out. */
const WORD_LETTERS_MAX = 200;
const MARKS_MAX = 30;
/** A text is folded by so many characters; in one run without a place to part it, a word may be cut there. */
const PIECE_CHARACTERS = 16 * 1024;
/** What neither joins with a character before it nor says how a letter before it is folded. */
const PARTING = new Set('\t\n\r !"#$%&()*+,-/;<=>?@[\\]_{|}~\u3000、。，！？；');
const SLICE_MS = 3;
const GRAMS_PER_LOOK = 4_096;

export async function embed(
  { signal }: AiCall,
  { inputs, dimensions, inputTokens }: EmbedRequest,
): Promise<EmbedReply> {
  const vectors: Float32Array[] = [];
  for (const input of inputs) {
    if (typeof input !== 'string') {
      const message = 'The sandbox embeds texts, not tokens.';
      return { kind: 'refused', reason: 'VALIDATION_FAILED', breaker: { kind: 'none' }, message, vendorSaid: null };
    }
    if (signal.aborted) return { kind: 'not_sent' };
    vectors.push(await vectorOf(input, dimensions ?? DIMENSIONS));
  }
  const none = { cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0, costUsd: null };
  return { kind: 'embedded', vectors, usage: { ...none, inputTokens } };
}

let last: Promise<unknown> = Promise.resolve();

/** Of unit length; zeros for a text without letters or digits. Texts wait for one another: what one of them takes is in memory once. */
export function vectorOf(text: string, dimensions: number): Promise<Float32Array> {
  const made = last.then(() => textVector(text, dimensions));
  last = made.catch(() => undefined);
  return made;
}

interface Counted {
  count: number;
  readonly weight: number;
}

/** By its hash; in the order in which they were met first. */
type Counts = Map<number, Counted>;

async function textVector(text: string, dimensions: number): Promise<Float32Array> {
  const counts: Counts = new Map();
  for (const piece of piecesOf(text)) {
    for (const [word] of foldCase(piece).matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
      addWord(counts, word.slice(0, WORD_LETTERS_MAX));
      if (isSliceOver()) await nextSlice();
    }
    if (isSliceOver()) await nextSlice();
  }
  return unit(counts, dimensions);
}

let sliceEndsMs = 0;

function isSliceOver(): boolean {
  return performance.now() >= sliceEndsMs;
}

async function nextSlice(): Promise<void> {
  await turn();
  sliceEndsMs = performance.now() + SLICE_MS;
}

/** Folded one by one they are as the whole folded. */
function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from);
    yield text.slice(from, to);
    from = to;
  }
}

function endOfPiece(text: string, from: number): number {
  const furthest = from + PIECE_CHARACTERS;
  if (furthest >= text.length) return text.length;
  for (let at = furthest; at > from; at -= 1) if (PARTING.has(text[at] as string)) return at;
  return /[\uDC00-\uDFFF]/.test(text[furthest] as string) ? furthest + 1 : furthest;
}

/**
 * NFKC and full case folding (Unicode, section 3.13), by what every machine has: lower, upper and lower again take ß, ẞ and SS to the same,
 * and a dotless ı to i, as I goes; a sigma is one letter wherever it stands. What that takes apart is composed again.
 */
function foldCase(text: string): string {
  // To order the marks of one letter takes time that grows with their square.
  const marked = text.replace(/\p{M}{31,}/gu, (marks) => [...marks].slice(0, MARKS_MAX).join(''));
  const lower = marked.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase();
  return lower.replaceAll('ς', 'σ').normalize('NFKC');
}

function addWord(counts: Counts, word: string): void {
  const weight = word.length <= SHORT_LETTERS ? SHORT_WEIGHT : 1;
  add(counts, mixBits(extendHash(hashSeed(1), word, 0, word.length)), weight);
  const marked = `^${word}$`;
  for (let length = GRAM_MIN; length <= GRAM_MAX; length += 1) {
    for (let at = 0; at + length <= marked.length; at += 1) {
      add(counts, mixBits(extendHash(hashSeed(2), marked, at, at + length)), weight * (length / GRAM_MAX) ** 2);
    }
  }
}

function add(counts: Counts, hash: number, weight: number): void {
  const known = counts.get(hash);
  if (known === undefined) counts.set(hash, { count: 1, weight });
  else known.count += 1;
}

/** FNV-1a, of words (1) and grams (2) apart. */
function hashSeed(kind: number): number {
  return 0x811c9dc5 ^ kind;
}

function extendHash(before: number, text: string, from: number, to: number): number {
  let hash = before;
  for (let i = from; i < to; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

/** Every bit of it may be used. */
function mixBits(hashed: number): number {
  let hash = Math.imul(hashed ^ (hashed >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

async function unit(counts: Counts, dimensions: number): Promise<Float32Array> {
  const sums = new Float64Array(dimensions);
  let looked = 0;
  for (const [hash, { count, weight }] of counts) {
    const at = (hash >>> 1) % dimensions;
    // What is there often counts for more, but not as often.
    const value = weight * Math.sqrt(count);
    sums[at] = (sums[at] as number) + ((hash & 1) === 0 ? value : -value);
    looked += 1;
    if (looked % GRAMS_PER_LOOK === 0 && isSliceOver()) await nextSlice();
  }
  let squares = 0;
  for (const value of sums) squares += value * value;
  const length = Math.sqrt(squares);
  if (length !== 0) for (let i = 0; i < dimensions; i += 1) sums[i] = (sums[i] as number) / length;
  return Float32Array.from(sums);
}
