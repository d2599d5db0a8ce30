// Texts of an event: such as PostgreSQL can hold (NUL and lone surrogates become U+FFFD, contract §1, §9, in names as well as in values), and
// what the search index holds of them.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

export function cleanText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).toWellFormed();
}

/** A plain JSON value with every text cleaned; what needs no cleaning is shared with it. */
export function cleanJson<T>(value: T): T {
  return clean(value) as T;
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (value === null || typeof value !== 'object') return value;
  return Array.isArray(value) ? cleanList(value) : cleanMembers(value as Readonly<Record<string, unknown>>);
}

function cleanList(list: readonly unknown[]): readonly unknown[] {
  const cleaned = list.map(clean);
  return cleaned.some((entry, i) => entry !== list[i]) ? cleaned : list;
}

function cleanMembers(members: Readonly<Record<string, unknown>>): object {
  const names = Object.keys(members);
  const cleanNames = names.map(cleanText);
  const values = names.map((name) => clean(members[name]));
  const changed = names.some((name, i) => cleanNames[i] !== name || values[i] !== members[name]);
  return changed ? Object.fromEntries(cleanNames.map((name, i) => [name, values[i]])) : members;
}

/** The first `characters` of a text, none of them cut in half. */
export function firstCharacters(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return [...text.slice(0, characters * 2)].slice(0, characters).join('');
}

// What the search index holds of an event: the words of its texts, and a mark for each value that lists can be filtered by.
// Texts and questions are cut by the same rule, so a question is never an expression.

/** Read from each text; a stack trace that was sent as a message is not a text to search. */
const TEXT_CHARACTERS_MAX = 8_192;
const WORD_CHARACTERS_MAX = 64;
const WORDS_MAX = 300;
const WORD = /[\p{L}\p{N}\p{M}_]+/gu;

export type MarkedValue = 'environment' | 'level' | 'release' | 'user_id' | `tags.${string}`;

/** The distinct words of the texts in lower case: runs of letters, digits and underscores. At most 300. */
export function wordsOf(texts: readonly (string | null)[]): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (text === null) continue;
    for (const word of text.slice(0, TEXT_CHARACTERS_MAX).toLowerCase().normalize('NFC').match(WORD) ?? []) {
      words.add(word.slice(0, WORD_CHARACTERS_MAX).toWellFormed());
      if (words.size === WORDS_MAX) return [...words];
    }
  }
  return [...words];
}

/** One word that stands for a value of a field: no text of an event has such a word, since none holds `=`. */
export function valueWord(field: MarkedValue, value: string): string {
  const source = `${field}\n${value}`;
  const known = valueWords.get(source);
  if (known !== undefined) return known;
  const word = `=${hash('sha256', source, 'base64url').slice(0, 16)}`;
  if (source.length <= VALUE_WORD_SOURCE_MAX) valueWords.set(source, word);
  return word;
}

// Levels, environments, releases and most tags come again and again: a look-up takes a tenth of a hash.
const VALUE_WORDS_MAX = 4_096;
const VALUE_WORD_SOURCE_MAX = 128;
const valueWords = new LRUCache<string, string>({ max: VALUE_WORDS_MAX });
