// Search word for each value that lists of events can be filtered by, indexed beside the words of the texts.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

export type MarkedValue = 'environment' | 'level' | 'release' | 'user_id' | `tags.${string}`;

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
