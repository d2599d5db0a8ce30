// Label matchers.
import { type Expression, Expressions } from './expressions.ts';
import type { Labels } from './labels.ts';
import type { Matcher } from './query.ts';

/** Throws an Error that says what is wrong with an expression, and what `expressions` throws. */
export function matcherOf(label: string, op: Matcher['op'], value: string, expressions = new Expressions()): Matcher {
  if (op === '=') return { label, op, value, matches: (own) => own === value };
  if (op === '!=') return { label, op, value, matches: (own) => own !== value };
  const choices = choicesOf(value);
  if (choices !== null) {
    return { label, op, value, matches: op === '=~' ? (own) => choices.has(own) : (own) => !choices.has(own) };
  }
  const expression: Expression = expressions.compile(value);
  const reckon = (texts: Iterable<string>) => expression.reckon(texts);
  const matches = op === '=~' ? expression.test.bind(expression) : (own: string) => !expression.test(own);
  return { label, op, value, reckon, matches };
}

const CHOICES = /^[\w\-/:@ ,=]*(?:\|[\w\-/:@ ,=]*)*$/;

/** Of `api|web` or `(api|web)`, as dashboards make them of chosen values: no expression is needed. Null: it is another expression. */
function choicesOf(source: string): ReadonlySet<string> | null {
  const inner = /^\(([^()]*)\)$/.exec(source)?.[1] ?? source;
  return CHOICES.test(inner) ? new Set(inner.split('|')) : null;
}

export function matchesAll(matchers: readonly Matcher[], labels: Labels): boolean {
  return matchers.every(({ label, matches }) => matches(labels.get(label) ?? ''));
}
