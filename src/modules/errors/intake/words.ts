// What the search index holds of an event: the words of its texts, and a mark for each value that lists can be filtered by.
// Texts and questions are cut by the same rule, so a question is never an expression.
import { hash } from 'node:crypto';

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
  if (valueWords.size >= VALUE_WORDS_MAX) valueWords.clear();
  if (source.length <= VALUE_WORD_SOURCE_MAX) valueWords.set(source, word);
  return word;
}

// Levels, environments, releases and most tags come again and again: a look-up takes a tenth of a hash.
const VALUE_WORDS_MAX = 4_096;
const VALUE_WORD_SOURCE_MAX = 128;
const valueWords = new Map<string, string>();
