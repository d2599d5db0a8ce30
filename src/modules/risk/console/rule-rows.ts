// Rules as rows of a form: each has a name, points, and conditions that compare one signal each. A condition that is more than that is JSON
// within its row, so every set of rules can be shown and comes back as it was.
import { numberOf } from '../../../kit/console/form.ts';
import { type RowFields, rowsOf } from '../../../kit/console/rows.ts';
import type { DataOf } from '../../../kit/console/visit.ts';
import { invalidField } from '../../../problems/problem.ts';
import type { rulesGet } from '../capabilities/rules.ts';

export type Rules = Pick<DataOf<typeof rulesGet>, 'thresholds' | 'rules'>;
type Rule = Rules['rules'][number];

interface Operator {
  readonly label: string;
  write(signal: object, value: string): unknown;
}

interface Condition {
  readonly signal: string;
  readonly operator: string;
  readonly value: string;
}

export const GROUP = 'rule';
export const WHEN = 'when';
/** The condition whole, as JSON. */
const JSON_OPERATOR = 'json';

const compare = (label: string, operator: string): Operator => ({
  label,
  write: (it, value) => ({ [operator]: [it, literal(value)] }),
});
const listOf = (value: string) => value.split(',').map((each) => literal(each.trim()));

export const operators: Readonly<Record<string, Operator>> = {
  '>': compare('is above', '>'),
  '>=': compare('is at least', '>='),
  '<': compare('is below', '<'),
  '<=': compare('is at most', '<='),
  is: compare('is', '=='),
  is_exactly: compare('is exactly', '==='),
  is_not: compare('is not', '!='),
  one_of: { label: 'is one of (commas between)', write: (it, value) => ({ in: [it, listOf(value)] }) },
  contains: { label: 'contains', write: (it, value) => ({ in: [value, it] }) },
  is_set: { label: 'is there', write: (it) => ({ '!!': [it] }) },
  is_unset: { label: 'is not there', write: (it) => ({ '!': [it] }) },
  [JSON_OPERATOR]: { label: 'matches JSON', write: (_, value) => JSON.parse(value) },
};
/** They compare with nothing. */
const unary = ['is_set', 'is_unset'];

/** A number, true, false or null; anything else is a text. */
function literal(value: string): unknown {
  return /^(true|false|null|-?\d+(\.\d+)?)$/.test(value) ? JSON.parse(value) : value;
}

/** The fields of its row. */
export function fieldsOfRule({ name, points, description, when }: Rule): RowFields {
  const { all, conditions } = readWhen(when);
  const fields = conditions.flatMap((condition, i) =>
    Object.entries(condition).map(([of, value]) => [`${WHEN}-${i}-${of}`, value]),
  );
  return { name, points: String(points), description: description ?? '', all, ...Object.fromEntries(fields) };
}

/** `all`: all of several conditions, or any. */
export function readWhen(when: unknown): { readonly all: string; readonly conditions: readonly Condition[] } {
  const [[operator, operands] = ['', null], ...others] = Object.entries(Object(when));
  const isSeveral =
    others.length === 0 && ['and', 'or'].includes(operator) && Array.isArray(operands) && operands.length > 1;
  if (!isSeveral) return { all: 'all', conditions: [readCondition(when)] };
  return { all: operator === 'and' ? 'all' : 'any', conditions: operands.map(readCondition) };
}

function readCondition(condition: unknown): Condition {
  const json = { signal: '', operator: JSON_OPERATOR, value: JSON.stringify(condition) };
  const [sent] = Object.values(Object(condition));
  if (!Array.isArray(sent)) return json;
  const signal = sent.find((each) => typeof each?.var === 'string')?.var;
  const compared = sent.findLast((each) => typeof each !== 'object' || each === null || Array.isArray(each)) ?? '';
  const value = [compared].flat().map(String).join(', ');
  const found = Object.entries(operators).find(
    ([name, { write }]) =>
      name !== JSON_OPERATOR && JSON.stringify(write({ var: signal }, value)) === JSON.stringify(condition),
  );
  return found === undefined || !signal ? json : { signal, operator: found[0], value };
}

/**
 * The rules that the rows of a form say. Throws VALIDATION_FAILED at a field. `only`: the place of one; rules that never match stand in the
 * places of the others, so that a fault names the row.
 */
export function rulesOfRows(form: URLSearchParams, only: number | null = null): Record<string, unknown> {
  const rules = rowsOf(form, GROUP).map((row, n) =>
    only === null || n === only ? ruleOfRow(row, n) : { name: `not-tried-${n}`, points: 0, when: false },
  );
  return { thresholds: { review: numberOf(form, 'review'), block: numberOf(form, 'block') }, rules };
}

function ruleOfRow(row: RowFields, n: number): Record<string, unknown> {
  const fields = new URLSearchParams(row);
  const description = row.description?.trim() ?? '';
  return {
    name: row.name?.trim() ?? '',
    points: numberOf(fields, 'points'),
    ...(description === '' ? {} : { description }),
    when: writeWhen(fields, `${GROUP}-${n}-${WHEN}`),
  };
}

function writeWhen(fields: URLSearchParams, at: string): unknown {
  const conditions = rowsOf(fields, WHEN).flatMap((row, i) => writeCondition(row, `${at}-${i}`));
  const [first, ...others] = conditions;
  if (first === undefined) throw invalidField(`${at}-0-signal`, 'required', 'A rule has at least one condition.');
  if (others.length === 0) return first;
  return { [fields.get('all') === 'any' ? 'or' : 'and']: conditions };
}

/** None where nothing was typed. */
function writeCondition({ operator = '>', ...row }: RowFields, at: string): readonly unknown[] {
  const [signal, value] = [row.signal?.trim() ?? '', row.value?.trim() ?? ''];
  if (operator === JSON_OPERATOR) {
    try {
      return [JSON.parse(value)];
    } catch (error) {
      throw invalidField(`${at}-value`, 'json', `The condition must be JSON: ${(error as Error).message}.`);
    }
  }
  if (signal === '' && value === '') return [];
  if (signal === '') throw invalidField(`${at}-signal`, 'required', 'Name the signal that is compared.');
  if (value === '' && !unary.includes(operator))
    throw invalidField(`${at}-value`, 'required', 'Say what the signal is compared with.');
  if (!Object.hasOwn(operators, operator)) throw invalidField(`${at}-operator`, 'enum', 'There is no such condition.');
  return [operators[operator]?.write({ var: signal }, value)];
}
