// Matchers of labels. Expressions match whole values, and are matched in time linear in the value (RE2).
import { RE2JS } from 're2js';
import type { Labels } from './labels.ts';
import type { Matcher } from './query.ts';

/** Of one expression, and of what it unfolds to: `a{1000}` counts as a thousand. */
const EXPRESSION_CHARACTERS_MAX = 1_024;
const PROGRAM_MAX = 10_000;

/** The expression, for whole texts. Throws an Error that says what is wrong with it. */
export function wholeExpression(source: string): RE2JS {
  if (source.length > EXPRESSION_CHARACTERS_MAX) {
    throw new Error(`an expression may have at most ${EXPRESSION_CHARACTERS_MAX} characters`);
  }
  const expression = RE2JS.compile(`^(?:${source})$`);
  if (expression.programSize() > PROGRAM_MAX) throw new Error('the expression is too large');
  return expression;
}

/** Throws an Error that says what is wrong with an expression. */
export function matcherOf(label: string, op: Matcher['op'], value: string): Matcher {
  if (op === '=') return { label, op, value, matches: (own) => own === value };
  if (op === '!=') return { label, op, value, matches: (own) => own !== value };
  const expression = wholeExpression(value);
  // Labels have few values: each is looked at once.
  const known = new Map<string, boolean>();
  const holds = (own: string) => {
    let held = known.get(own);
    if (held === undefined) {
      held = expression.matcher(own).find();
      if (known.size < 10_000) known.set(own, held);
    }
    return held;
  };
  return { label, op, value, matches: op === '=~' ? holds : (own) => !holds(own) };
}

export function matchesAll(matchers: readonly Matcher[], labels: Labels): boolean {
  return matchers.every(({ label, matches }) => matches(labels.get(label) ?? ''));
}
