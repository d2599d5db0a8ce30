// Counts tokens with one widely used tokenizer (o200k), an estimate for all others. Its tables are large and take 300 ms to load, at the first
// count in a thread. On the event loop use `token-counter.ts`.
import { createRequire } from 'node:module';
import { TimeSlices } from '../time-slices.ts';

const require = createRequire(import.meta.url);
/** Its time grows with the square of a run of letters, or of anything that it does not part. */
const RUN = 100;
/** Up to a length: a match of megabytes takes more stack than there is. */
const LONG_RUNS = /\S{101,10000}|\s{101,10000}/g;

interface Tokenizer {
  countTokens(text: string, options: Options): number;
  encode(text: string, options: Options): number[];
  decodeGenerator(tokens: Iterable<number>): Iterable<string>;
}
interface Options {
  readonly disallowedSpecial: ReadonlySet<string>;
}

let loaded: Tokenizer | null = null;
/** What would be a special token is text like any other. */
const plainText: Options = { disallowedSpecial: new Set<string>() };

function tokenizer(): Tokenizer {
  loaded ??= require('gpt-tokenizer/encoding/o200k_base') as Tokenizer;
  return loaded;
}

/** Texts are read by so much at a time, cut where a word begins. */
const PIECE = 1_024;
const slices = new TimeSlices();

/** Tokens of the text. Long runs without a space are counted in pieces, so a few tokens too many. */
export function countTokens(text: string): number {
  let tokens = 0;
  for (const part of parts(text)) tokens += tokenizer().countTokens(part, plainText);
  return tokens;
}

/** The same, where other texts have their turns in between. */
export async function countTokensInTurns(text: string): Promise<number> {
  let tokens = 0;
  for (const part of parts(text)) {
    if (slices.isOver) await slices.next();
    tokens += tokenizer().countTokens(part, plainText);
  }
  return tokens;
}

/** A piece of one token, or of as many as make whole characters. */
export interface TokenPiece {
  readonly text: string;
  readonly tokens: number;
}

/** The text in pieces, where other texts have their turns in between. */
export async function tokenPieces(text: string): Promise<TokenPiece[]> {
  const tokens: number[] = [];
  for (const part of parts(text)) {
    if (slices.isOver) await slices.next();
    tokens.push(...tokenizer().encode(part, plainText));
  }
  let taken = 0;
  const countedTokens = function* () {
    for (const token of tokens) {
      taken += 1;
      yield token;
    }
  };
  const pieces: TokenPiece[] = [];
  let before = 0;
  for (const piece of tokenizer().decodeGenerator(countedTokens())) {
    pieces.push({ text: piece, tokens: taken - before });
    before = taken;
    if (slices.isOver) await slices.next();
  }
  return pieces;
}

function* parts(text: string): Generator<string> {
  let from = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUNS)) {
    yield* pieces(text, from, index);
    for (let at = 0; at < run.length; ) {
      // A character of two halves stays whole.
      const end = /[\uD800-\uDBFF]/.test(run[at + RUN - 1] ?? '') ? at + RUN - 1 : at + RUN;
      yield run.slice(at, end);
      at = end;
    }
    from = index + run.length;
  }
  yield* pieces(text, from, text.length);
}

/** Cut before a space that follows a word: there a token ends in any case. */
function* pieces(text: string, start: number, end: number): Generator<string> {
  for (let from = start; from < end; ) {
    let to = Math.min(end, from + PIECE);
    if (to < end) {
      while (to > from && !(text[to] === ' ' && /\S/.test(text[to - 1] as string))) to -= 1;
      if (to === from) to = Math.min(end, from + 2 * PIECE);
    }
    yield text.slice(from, to);
    from = to;
  }
}
