// Selectors that a caller may wait for: elements, ids, classes and attributes, by space, >, + and ~. Pseudo-classes are refused: some of them cost a
// browser the square of a page's elements, or more.
import { invalidField } from '../../../problems/problem.ts';

const NAME = '-?[A-Za-z_\\u0080-\\uffff][\\w\\u0080-\\uffff-]*';
const VALUE = `(?:${NAME}|"[^"\\\\\\n]*"|'[^'\\\\\\n]*')`;
const PART = new RegExp(`(?:[#.]${NAME}|\\[${NAME}(?:[~|^$*]?=${VALUE})?\\])`, 'y');
const ELEMENT = new RegExp(`(?:\\*|${NAME})`, 'y');
const BETWEEN = /\s*[,>+~]\s*|\s+/y;
/** Elements of one selector; each of a list counts. */
const ELEMENTS_MAX = 10;

/** Throws VALIDATION_FAILED of wait_for. Each character is looked at a few times, however it is written. */
export function requireSelector(text: string): string {
  const selector = text.trim();
  let at = 0;
  const take = (part: RegExp): boolean => {
    part.lastIndex = at;
    if (!part.test(selector)) return false;
    at = part.lastIndex;
    return true;
  };
  for (let elements = 1; ; elements += 1) {
    if (elements > ELEMENTS_MAX)
      throw invalidSelector('too_many', `wait_for may name at most ${ELEMENTS_MAX} elements.`);
    const begin = at;
    take(ELEMENT);
    while (take(PART));
    if (at === begin) break;
    if (at === selector.length) return selector;
    if (!take(BETWEEN)) break;
  }
  const place = selector.slice(at, at + 20);
  const what = place === '' ? 'it ends too early' : `“${place}” cannot be read`;
  throw invalidSelector(
    'selector',
    `wait_for takes names, #ids, .classes and [attributes], with a space, >, + or ~: ${what}.`,
  );
}

const invalidSelector = (rule: string, message: string) => invalidField('wait_for', rule, message);
