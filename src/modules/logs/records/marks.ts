// Index marks of blocks, by which a search skips blocks: words of the records, their first 4, 8 and 16 characters, and values used as filters. A
// mark only says "maybe": a search still checks the records.
import type { Marks } from '../../../blocks/marks.ts';
import { eachWord, type SearchedWords } from '../../../lib/words/words.ts';
import { plainOf } from './batch.ts';

const BEGINNINGS = [4, 8, 16];
const VALUE_CHARACTERS_MAX = 64;
/** Of a question. */
const MARKS_MAX = 24;

export const traceMark = (traceId: string) => `t=${traceId}`;
export const serviceMark = (service: string) => `s=${service}`;
/** `plain`: of a string itself, of anything else its JSON. */
export const attributeMark = (name: string, plain: string) => `${name}=${plain.slice(0, VALUE_CHARACTERS_MAX)}`;

/** Marks the words of texts. */
export class WordMarks {
  readonly #marks: Marks;
  readonly #seen = new Set<string>();
  readonly #see: (word: string) => void;

  constructor(marks: Marks) {
    this.#marks = marks;
    this.#see = (word) => {
      this.#marks.addNew(word);
      for (const length of BEGINNINGS) if (word.length > length) this.#marks.add(word.slice(0, length));
    };
  }

  add(text: string): void {
    eachWord(text, this.#seen, this.#see);
  }
}

/** The marks that a block has which holds an answer to the question. */
export function marksOfWords({ whole, prefix }: SearchedWords): string[] {
  // Each mark says "maybe" for nothing in one of fifty blocks: together they hardly do.
  const beginnings = (word: string) =>
    BEGINNINGS.filter((each) => each <= word.length).map((each) => word.slice(0, each));
  return [...new Set([...whole, ...whole.flatMap(beginnings), ...beginnings(prefix ?? '')])].slice(0, MARKS_MAX);
}

/** Marks what a sender's resource can be filtered by. */
export function markResource(marks: Marks, json: string): void {
  for (const [name, value] of Object.entries(JSON.parse(json) as object)) {
    marks.add(attributeMark(name, typeof value === 'string' ? value : JSON.stringify(value)));
  }
}

/** Marks an attribute. */
export function markAttribute(marks: Marks, name: string, typed: string): void {
  marks.addNew(attributeMark(name, plainOf(typed)));
}
