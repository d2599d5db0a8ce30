// Parser of page ranges such as `1-3,5,8-`. Pages count from 1.

import { patternWithWords } from '../../lib/pattern-words.ts';
import { Refused } from './engine/refused.ts';

export const RANGES_MAX = 100;
export const RANGES_PATTERN = patternWithWords(
  `^\\s*\\d{1,6}\\s*(-\\s*(\\d{1,6})?)?\\s*(,\\s*\\d{1,6}\\s*(-\\s*(\\d{1,6})?)?\\s*){0,${RANGES_MAX - 1}}$`,
  `must be up to ${RANGES_MAX} pages and ranges of pages, such as 1-3, 5, 8-`,
);

/** The pages of each range, of a document of so many. Throws Refused for a range that is empty or lies outside. */
export function rangesOf(text: string, pages: number, field: string): number[][] {
  return text.split(',').map((range) => {
    const [, first = '', dash, last] = /^\s*(\d+)\s*(-)?\s*(\d+)?\s*$/.exec(range) ?? [];
    const from = Number(first);
    const to = dash === undefined ? from : last === undefined ? pages : Number(last);
    if (from < 1 || from > pages || to > pages)
      throw new Refused(field, 'out_of_range', `${range.trim()}: it has pages 1 to ${pages}.`);
    if (to < from) throw new Refused(field, 'out_of_range', `${range.trim()}: the first page is behind the last.`);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}
