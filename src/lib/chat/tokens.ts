// Counting tokens as one widely used tokenizer does (o200k): an estimate for all others. Its tables are large: they are read at the first
// count of a process or thread.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
/** Its time grows with the square of a run of letters, or of anything that it does not part. */
const RUN = 100;
const LONG_RUNS = /[^\s]{101,}|\s{101,}/g;

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

/** Tokens of the text. Long runs without a space are counted in pieces, so a few tokens too many. */
export function countTokens(text: string): number {
  let tokens = 0;
  for (const part of parts(text)) tokens += tokenizer().countTokens(part, plainText);
  return tokens;
}

/** The text in pieces of one token, or of as many as make whole characters; with the tokens of each. */
export function tokenPieces(text: string): { readonly text: string; readonly tokens: number }[] {
  const tokens = [...parts(text)].flatMap((part) => tokenizer().encode(part, plainText));
  let taken = 0;
  const counted = function* () {
    for (const token of tokens) {
      taken += 1;
      yield token;
    }
  };
  let before = 0;
  return Array.from(tokenizer().decodeGenerator(counted()), (piece) => {
    const size = taken - before;
    before = taken;
    return { text: piece, tokens: size };
  });
}

function* parts(text: string): Generator<string> {
  let from = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUNS)) {
    if (index > from) yield text.slice(from, index);
    for (let at = 0; at < run.length; ) {
      // A character of two halves stays whole.
      const end = /[\uD800-\uDBFF]/.test(run[at + RUN - 1] ?? '') ? at + RUN - 1 : at + RUN;
      yield run.slice(at, end);
      at = end;
    }
    from = index + run.length;
  }
  if (from < text.length) yield text.slice(from);
}
