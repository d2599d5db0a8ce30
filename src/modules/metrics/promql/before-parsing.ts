// Checks of a query before it is parsed: length, parts and depth. Parsing thousands of brackets takes a tenth of a second. Also names functions
// that the grammar does not know.
import { invalidField, type Problem } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import { aggregations, functions } from './functions.ts';

const CHARACTERS_MAX = 8 * 1024;
export const NODES_MAX = 500;
export const DEPTH_MAX = 50;

const COMMENTS = /#[^\n]*/g;
const STRINGS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/gs;

/** Throws VALIDATION_FAILED for a query that is empty or too long to be parsed. */
export function requireParsable(text: string): void {
  if (text.length > CHARACTERS_MAX)
    throw invalidField('query', 'maxLength', `A query may have at most ${CHARACTERS_MAX} characters.`);
  if (text.trim() === '') throw invalidField('query', 'minLength', 'The query is empty.');
  let [parts, depth] = [0, 0];
  for (const character of text.replaceAll(STRINGS, '').replaceAll(COMMENTS, '')) {
    if ('([{'.includes(character)) depth += 1;
    if (')]}'.includes(character)) depth -= 1;
    if ('([{+-*/%^=!<>,'.includes(character)) parts += 1;
    if (depth > DEPTH_MAX || parts > NODES_MAX) throw tooLong();
  }
}

export function tooLong() {
  return invalidField('query', 'maxItems', `A query may have ${NODES_MAX} parts, nested ${DEPTH_MAX} deep.`);
}

const keywords: ReadonlySet<string> = new Set([
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'and',
  'or',
  'unless',
  'bool',
  'offset',
  'atan2',
]);
const isKnown = (name: string) =>
  keywords.has(name) || Object.hasOwn(functions, name) || Object.hasOwn(aggregations, name);

/** A function that the grammar does not know, such as one of an older version. */
export function unknownFunction(text: string): Problem | null {
  const called = text.replaceAll(STRINGS, '').matchAll(/([a-z_]\w*)\s*\(/gi);
  const name = [...called].map(([, each]) => each as string).find((each) => !isKnown(each.toLowerCase()));
  if (name === undefined) return null;
  return problem('UNSUPPORTED_QUERY', {
    param: 'query',
    message: `The function ${name.slice(0, 100)} is not supported.`,
  });
}
