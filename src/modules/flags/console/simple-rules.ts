// The part of targeting that a form can show: conditions on one attribute each, in their order, and then a share of users for each variant.
// What is written by hand may be more than that; then the form says so.

export interface Row {
  readonly attribute: string;
  readonly operator: string;
  readonly value: string;
  readonly variant: string;
}

export interface SimpleRules {
  readonly rows: readonly Row[];
  /** Per cent by variant; empty: the default variant. */
  readonly shares: Readonly<Record<string, number>>;
}

type Rule = Readonly<Record<string, unknown>>;

interface Operator {
  readonly label: string;
  write(variable: Rule, value: string): Rule;
  /** Null: it is not of this operator. */
  read(name: string, sent: readonly unknown[]): readonly [variable: unknown, value: string] | null;
}

const binary = (label: string, operator: string): Operator => ({
  label,
  write: (variable, value) => ({ [operator]: [variable, value] }),
  read: (name, [variable, value, ...more]) =>
    name === operator && more.length === 0 && isScalar(value) ? [variable, String(value)] : null,
});
const numeric = (operator: string): Operator => ({
  ...binary(operator, operator),
  write: (variable, value) => ({ [operator]: [variable, Number.isFinite(Number(value)) ? Number(value) : value] }),
});
const version = (label: string, operator: string): Operator => ({
  label,
  write: (variable, value) => ({ sem_ver: [variable, operator, value] }),
  read: (name, [variable, sent, value]) =>
    name === 'sem_ver' && sent === operator && typeof value === 'string' ? [variable, value] : null,
});

export const operators: Readonly<Record<string, Operator>> = {
  is: binary('is', '=='),
  is_not: binary('is not', '!='),
  one_of: {
    label: 'is one of (commas between)',
    write: (variable, value) => ({ in: [variable, value.split(',').map((each) => each.trim())] }),
    read: (name, [variable, list]) =>
      name === 'in' && Array.isArray(list) && list.every((each) => typeof each === 'string' && !each.includes(','))
        ? [variable, list.join(', ')]
        : null,
  },
  contains: {
    label: 'contains',
    write: (variable, value) => ({ in: [value, variable] }),
    read: (name, [value, variable]) => (name === 'in' && typeof value === 'string' ? [variable, value] : null),
  },
  starts_with: binary('starts with', 'starts_with'),
  ends_with: binary('ends with', 'ends_with'),
  ...Object.fromEntries(['>', '>=', '<', '<='].map((operator) => [operator, numeric(operator)])),
  version_at_least: version('is version at least', '>='),
  version_below: version('is a version below', '<'),
  version_major: version('has the major version of', '^'),
};

/** Null: the rule is more than the form shows. */
export function readRules(targeting: Rule): SimpleRules | null {
  const [name, ...more] = Object.keys(targeting);
  if (name === undefined) return { rows: [], shares: {} };
  if (more.length > 0) return null;
  if (name === 'fractional') return withShares([], targeting);
  const sent = targeting.if;
  if (!Array.isArray(sent) || sent.length < 2) return null;
  const rows: Row[] = [];
  for (let at = 0; at + 1 < sent.length; at += 2) {
    const row = readRow(sent[at], sent[at + 1]);
    if (row === null) return null;
    rows.push(row);
  }
  return withShares(rows, sent.length % 2 === 1 ? sent.at(-1) : null);
}

/** `{}`: nothing decides but the default. */
export function writeRules({ rows, shares }: SimpleRules): Rule {
  const parts = Object.entries(shares).filter(([, percent]) => percent > 0);
  const rest = parts.length === 0 ? null : { fractional: parts };
  if (rows.length === 0) return rest ?? {};
  const conditions = rows.flatMap(({ attribute, operator, value, variant }) => [
    (operators[operator] as Operator).write({ var: attribute }, value),
    variant,
  ]);
  return { if: [...conditions, rest] };
}

function withShares(rows: readonly Row[], rest: unknown): SimpleRules | null {
  if (rest === null) return { rows, shares: {} };
  const parts = typeof rest === 'object' ? (rest as Rule).fractional : null;
  if (!Array.isArray(parts) || Object.keys(rest as object).length !== 1) return null;
  const isShare = (part: unknown) =>
    Array.isArray(part) && part.length === 2 && typeof part[0] === 'string' && typeof part[1] === 'number';
  const isWhole = parts.every(isShare) && new Set(parts.map(([variant]) => variant)).size === parts.length;
  return isWhole ? { rows, shares: Object.fromEntries(parts) } : null;
}

function readRow(condition: unknown, variant: unknown): Row | null {
  if (typeof variant !== 'string' || typeof condition !== 'object' || condition === null) return null;
  const [entry, ...more] = Object.entries(condition);
  if (entry === undefined || more.length > 0 || !Array.isArray(entry[1])) return null;
  for (const [operator, { read }] of Object.entries(operators)) {
    const found = read(entry[0], entry[1]);
    const attribute = found === null ? null : attributeOf(found[0]);
    if (found !== null && attribute !== null) return { attribute, operator, value: found[1], variant };
  }
  return null;
}

function attributeOf(variable: unknown): string | null {
  const [path, ...more] = [(variable as Rule | null)?.var].flat();
  return typeof path === 'string' && path !== '' && more.length === 0 ? path : null;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
