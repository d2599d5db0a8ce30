// Splits a text into search words: whole, in parts, and the last word of a query as a prefix. Texts and queries are split by the same rule, so a
// query is never an expression and never fails.

/** Read from each text; a stack trace that was sent as a message is not a text to search. */
const TEXT_CHARACTERS_MAX = 8_192;
const WORD_CHARACTERS_MAX = 64;
const WORDS_MAX = 300;
const PARTS_MAX = 200;
/** A run of letters and digits with as many turns between them, or with no two letters in a row, is an id: it is found whole. */
const ID_TURNS = 5;

/** How words are cut. Most texts are ASCII, whose expressions take a fifth of the time. */
interface Cut {
  readonly word: RegExp;
  /** What every word with parts has. */
  readonly seam: RegExp;
  /** Capitals up to the capital of the next word; a word, capitalised or not; a number. */
  readonly part: RegExp;
  readonly digit: RegExp;
  readonly letters: RegExp;
  readonly turn: RegExp;
}

const ASCII = /^[\0-\x7f]*$/;
const ascii: Cut = {
  word: /\w+/g,
  seam: /_|[a-z][A-Z\d]|[A-Z](?:\d|[A-Z][a-z])|\d[A-Za-z]/,
  part: /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g,
  digit: /\d/,
  letters: /[A-Za-z]{2}/,
  turn: /\d+|[A-Za-z]+/g,
};
const everyScript: Cut = {
  word: /[\p{L}\p{N}\p{M}_]+/gu,
  seam: /_|[^\p{Lu}_][\p{Lu}\p{N}]|\p{Lu}(?:\p{N}|\p{Lu}[\p{Ll}\p{M}])|\p{N}[\p{L}\p{M}]/u,
  part: /\p{Lu}+(?![\p{Ll}\p{M}])|\p{Lu}?[\p{Ll}\p{Lt}\p{Lm}\p{Lo}\p{M}]+|\p{N}+/gu,
  digit: /\p{N}/u,
  letters: /[\p{L}\p{M}]{2}/u,
  turn: /\p{N}+|[\p{L}\p{M}]+/gu,
};

/** A question: all of its words must be there, of the last one a beginning. */
export interface SearchedWords {
  readonly whole: readonly string[];
  /** Null: there is no word at all. */
  readonly prefix: string | null;
}

/** What is stored of the texts: the first 300 distinct words in lower case, and the first 200 parts of them. */
export function storedWords(texts: readonly (string | null)[]): string[] {
  const words = new Set<string>();
  const parts = new Set<string>();
  for (const text of texts) {
    if (text === null) continue;
    const read = text.slice(0, TEXT_CHARACTERS_MAX);
    const cut = cutOf(read);
    for (const word of wordsIn(read, cut)) {
      if (words.size === WORDS_MAX) break;
      words.add(storedWord(word, cut));
      if (parts.size < PARTS_MAX && cut.seam.test(word)) addParts(parts, word, cut);
    }
  }
  return [...words.union(parts)];
}

/** The words of a question, by the same rule but without parts: who types a whole name looks for it. */
export function searchedWords(q: string): SearchedWords {
  const cut = cutOf(q);
  const words = wordsIn(q, cut).map((word) => storedWord(word, cut));
  const prefix = words.pop() ?? null;
  return { whole: [...new Set(words)].slice(0, WORDS_MAX), prefix };
}

/** Whether a text with these words is an answer. */
export function holdsWords(stored: readonly string[], { whole, prefix }: SearchedWords): boolean {
  return (
    whole.every((word) => stored.includes(word)) && (prefix === null || stored.some((word) => word.startsWith(prefix)))
  );
}

/** Calls `see` with each word, and each part of one, that `storedWords` may hold of the text, and maybe with more. `seen`: words that need no second look. */
export function eachWord(text: string, seen: Set<string>, see: (word: string) => void): void {
  const read = text.length > TEXT_CHARACTERS_MAX ? text.slice(0, TEXT_CHARACTERS_MAX) : text;
  const cut = cutOf(read);
  for (const word of cut === ascii ? (read.match(cut.word) ?? []) : wordsIn(read, cut)) {
    if (seen.has(word)) continue;
    seen.add(word);
    see(storedWord(word, cut));
    if (!cut.seam.test(word)) continue;
    const parts = new Set<string>();
    addParts(parts, word, cut);
    for (const part of parts) see(part);
  }
}

const cutOf = (text: string) => (ASCII.test(text) ? ascii : everyScript);

function wordsIn(text: string, { word }: Cut): readonly string[] {
  return text.normalize('NFC').match(word) ?? [];
}

function storedWord(word: string, cut: Cut): string {
  const short = word.slice(0, WORD_CHARACTERS_MAX);
  return cut === ascii ? short.toLowerCase() : short.toWellFormed().toLowerCase().normalize('NFC');
}

function addParts(parts: Set<string>, word: string, cut: Cut): void {
  for (const name of word.split('_')) {
    const found = isId(name, cut) ? [name] : (name.match(cut.part) ?? []);
    for (const part of found) {
      if (parts.size === PARTS_MAX) return;
      if (part.length > 1) parts.add(storedWord(part, cut));
    }
  }
}

function isId(name: string, { digit, letters, turn }: Cut): boolean {
  return digit.test(name) && (!letters.test(name) || (name.match(turn) ?? []).length >= ID_TURNS);
}
