// The part of targeting that rows of a form can show: conditions in their order, each with a variant or shares, and what everybody else gets.
// A condition that compares no attribute is shown as JSON. What is written by hand may be more than that; then the form says so.
import { invalidField } from '../../../problems/problem.ts';

/** Per cent by variant, 100 together. */
export type Shares = Readonly<Record<string, number>>;

/** A variant, shares, or null: the default variant. */
export type Outcome = string | Shares | null;

export interface Row {
  /** Empty beside `json`. */
  readonly attribute: string;
  readonly operator: string;
  readonly value: string;
  readonly outcome: Outcome;
}

export interface SimpleRules {
  readonly rows: readonly Row[];
  readonly rest: Outcome;
}

/** That the form shows. */
export const ROWS_MAX = 50;
const WHOLE = 100;

type Rule = Readonly<Record<string, unknown>>;

interface Operator {
  readonly label: string;
  write(attribute: Rule, value: string): unknown;
}

const numeric = (value: string) => (Number.isFinite(Number(value)) ? Number(value) : value);
const splitList = (value: string) => value.split(',').map((each) => each.trim());

/** The condition whole, as JSON. */
export const JSON_OPERATOR = 'json';

export const operators: Readonly<Record<string, Operator>> = {
  is: { label: 'is', write: (it, value) => ({ '==': [it, value] }) },
  is_not: { label: 'is not', write: (it, value) => ({ '!=': [it, value] }) },
  one_of: { label: 'is one of (commas between)', write: (it, value) => ({ in: [it, splitList(value)] }) },
  contains: { label: 'contains', write: (it, value) => ({ in: [value, it] }) },
  starts_with: { label: 'starts with', write: (it, value) => ({ starts_with: [it, value] }) },
  ends_with: { label: 'ends with', write: (it, value) => ({ ends_with: [it, value] }) },
  '>': { label: '>', write: (it, value) => ({ '>': [it, numeric(value)] }) },
  '>=': { label: '>=', write: (it, value) => ({ '>=': [it, numeric(value)] }) },
  '<': { label: '<', write: (it, value) => ({ '<': [it, numeric(value)] }) },
  '<=': { label: '<=', write: (it, value) => ({ '<=': [it, numeric(value)] }) },
  version_at_least: { label: 'is version at least', write: (it, value) => ({ sem_ver: [it, '>=', value] }) },
  version_below: { label: 'is a version below', write: (it, value) => ({ sem_ver: [it, '<', value] }) },
  version_major: { label: 'has the major version of', write: (it, value) => ({ sem_ver: [it, '^', value] }) },
  [JSON_OPERATOR]: { label: 'matches JSON', write: (_, value) => JSON.parse(value) },
};

/** `{}`: nothing decides but the default. Throws VALIDATION_FAILED for an operator that is none. */
export function writeRules({ rows, rest }: SimpleRules): Rule {
  const conditions = rows.flatMap(({ attribute, operator, value, outcome }) => {
    if (!Object.hasOwn(operators, operator)) throw invalidField('operator', 'enum', 'There is no such condition.');
    return [operators[operator]?.write({ var: attribute }, value), writeOutcome(outcome)];
  });
  if (conditions.length > 0) return { if: [...conditions, writeOutcome(rest)] };
  // A rule is an object: a variant for everybody is all of the shares.
  return rest === null ? {} : writeShares(typeof rest === 'string' ? { [rest]: WHOLE } : rest);
}

function writeOutcome(outcome: Outcome): unknown {
  return outcome === null || typeof outcome === 'string' ? outcome : writeShares(outcome);
}

function writeShares(shares: Shares): Rule {
  return { fractional: Object.entries(shares) };
}

/**
 * Shares as a form sends them. What is left of 100 is for the one that was left empty: the default variant, or the only one. Throws
 * VALIDATION_FAILED, at `param`.
 */
export function wholeShares(sent: Shares, variants: readonly string[], usual: string | null, param: string): Shares {
  const sum = Object.values(sent).reduce((all, share) => all + share, 0);
  if (sum === WHOLE) return sent;
  const empty = variants.filter((name) => sent[name] === undefined);
  const rest = empty.find((name) => name === usual) ?? (empty.length === 1 ? empty[0] : undefined);
  if (rest !== undefined && sum > 0 && sum < WHOLE) return { ...sent, [rest]: WHOLE - sum };
  const message = `The shares add up to ${sum} %, and must add up to ${WHOLE} %.`;
  throw invalidField(param, 'sum', `${message} Leave the default variant empty to give it the rest.`);
}

/** Null: the rule is more than the form shows, which would write another one. Shares of another whole than 100 are no per cents. */
export function readRules(targeting: Rule): SimpleRules | null {
  const isChoice = Array.isArray(targeting.if) && Object.keys(targeting).length === 1;
  const sent: readonly unknown[] = isChoice ? (targeting.if as readonly unknown[]) : [targeting];
  const pairs = Array.from({ length: Math.floor(sent.length / 2) }, (_, at) => sent.slice(2 * at, 2 * at + 2));
  const rows = pairs.map(([condition, outcome]) => readRow(condition, outcome)).filter((row) => row !== null);
  const isEmpty = !isChoice && Object.keys(targeting).length === 0;
  const rest = sent.length % 2 === 1 && !isEmpty ? readOutcome(sent.at(-1)) : null;
  if (rest === undefined || rows.length < pairs.length || rows.length > ROWS_MAX) return null;
  const whole = sent.length % 2 === 1 ? targeting : { if: [...sent, null] };
  return isSame(writeRules({ rows, rest }), whole) ? { rows, rest } : null;
}

/** Undefined: rows do not show it. */
function readOutcome(outcome: unknown): Outcome | undefined {
  if (outcome === null || typeof outcome === 'string') return outcome;
  const parts: unknown = Object(outcome).fractional;
  if (!Array.isArray(parts) || parts.length === 0) return undefined;
  if (!parts.every((part) => typeof Object(part)[0] === 'string' && typeof Object(part)[1] === 'number'))
    return undefined;
  const shares: Shares = Object.fromEntries(parts);
  return Object.values(shares).reduce((all, share) => all + share, 0) === WHOLE ? shares : undefined;
}

/** Null: no row writes this. */
function readRow(condition: unknown, sent: unknown): Row | null {
  const outcome = readOutcome(sent);
  return outcome === undefined ? null : { ...readCondition(condition), outcome };
}

function readCondition(condition: unknown): Omit<Row, 'outcome'> {
  const [sent] = Object.values(Object(condition));
  const json = { attribute: '', operator: JSON_OPERATOR, value: JSON.stringify(condition) };
  if (!Array.isArray(sent)) return json;
  const attribute = sent.find((each) => typeof each?.var === 'string')?.var;
  const value = [sent.findLast((each) => typeof each !== 'object' || Array.isArray(each))].flat().join(', ');
  const operator = Object.entries(operators).find(
    ([name, { write }]) => name !== JSON_OPERATOR && isSame(write({ var: attribute }, value), condition),
  );
  return operator === undefined || !attribute ? json : { attribute, operator: operator[0], value };
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
