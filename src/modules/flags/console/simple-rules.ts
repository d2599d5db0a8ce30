// The part of targeting that a form can show: conditions on one attribute each, in their order, and then a share of users for each variant.
// What is written by hand may be more than that; then the form says so.
import { invalidField } from '../../../problems/problem.ts';

export interface Row {
  readonly attribute: string;
  readonly operator: string;
  readonly value: string;
  readonly variant: string;
}

export interface SimpleRules {
  readonly rows: readonly Row[];
  /** Per cent by variant, 100 together; empty: the default variant. */
  readonly shares: Readonly<Record<string, number>>;
}

/** That the form shows. */
export const ROWS_MAX = 50;
const WHOLE = 100;

type Rule = Readonly<Record<string, unknown>>;

interface Operator {
  readonly label: string;
  write(attribute: Rule, value: string): Rule;
}

const numeric = (value: string) => (Number.isFinite(Number(value)) ? Number(value) : value);
const splitList = (value: string) => value.split(',').map((each) => each.trim());

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
};

/** `{}`: nothing decides but the default. Throws VALIDATION_FAILED for an operator that is none. */
export function writeRules({ rows, shares }: SimpleRules): Rule {
  const conditions = rows.flatMap(({ attribute, operator, value, variant }) => {
    if (!Object.hasOwn(operators, operator)) throw invalidField('operator', 'enum', 'There is no such condition.');
    return [operators[operator]?.write({ var: attribute }, value), variant];
  });
  const parts = Object.entries(shares);
  const rest = parts.length === 0 ? null : { fractional: parts };
  return conditions.length === 0 ? (rest ?? {}) : { if: [...conditions, rest] };
}

/** Shares as a form sends them: what is left of 100 is the default variant's, which was left empty. Throws VALIDATION_FAILED. */
export function wholeShares(sent: SimpleRules['shares'], usual: string | null): SimpleRules['shares'] {
  const sum = Object.values(sent).reduce((all, share) => all + share, 0);
  if (Object.keys(sent).length === 0 || sum === WHOLE) return sent;
  const rest = usual !== null && sent[usual] === undefined ? usual : null;
  if (rest !== null && sum < WHOLE) return { ...sent, [rest]: WHOLE - sum };
  const message = `The shares add up to ${sum} %, and must add up to ${WHOLE} %.`;
  throw invalidField('shares', 'sum', `${message} An empty one is the rest if its variant is the default.`);
}

/** Null: the rule is more than the form shows, which would write another one. Shares of another whole than 100 are no per cents. */
export function readRules(targeting: Rule): SimpleRules | null {
  const sent: readonly unknown[] = Array.isArray(targeting.if) ? targeting.if : [targeting];
  const pairs = Array.from({ length: Math.floor(sent.length / 2) }, (_, at) => sent.slice(2 * at, 2 * at + 2));
  const rows = pairs.map(([condition, variant]) => readRow(condition, variant)).filter((row) => row !== null);
  const rest = sent.length % 2 === 1 ? sent.at(-1) : null;
  const parts: unknown = Object(rest).fractional ?? [];
  const isShares = Array.isArray(parts) && parts.every((part) => typeof Object(part)[1] === 'number');
  const shares: Record<string, number> = isShares ? Object.fromEntries(parts) : {};
  const rules = { rows, shares };
  const sum = Object.values(shares).reduce((all, share) => all + share, 0);
  if (sum !== WHOLE && Object.keys(shares).length > 0) return null;
  const whole = sent.length % 2 === 1 ? targeting : { if: [...sent, null] };
  return rows.length <= ROWS_MAX && isSame(writeRules(rules), whole) ? rules : null;
}

/** Null: no operator writes this. */
function readRow(condition: unknown, variant: unknown): Row | null {
  const [sent] = Object.values(Object(condition));
  if (!Array.isArray(sent) || typeof variant !== 'string') return null;
  const attribute = sent.find((each) => typeof each?.var === 'string')?.var;
  const value = [sent.findLast((each) => typeof each !== 'object' || Array.isArray(each))].flat().join(', ');
  const operator = Object.keys(operators).find((name) =>
    isSame(operators[name]?.write({ var: attribute }, value), condition),
  );
  return operator === undefined || !attribute ? null : { attribute, operator, value, variant };
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
