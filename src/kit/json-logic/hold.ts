// Whether a rule of JsonLogic holds for some facts, such as a request. The rule was bounded when it was written (cost.ts); of the facts it sees
// the fields that it names, within the bounds of a context.
import { FeatureFlag } from '@openfeature/flagd-core';
import { Problem } from '../../problems/problem.ts';
import { type Context, checkContext } from './cost.ts';

const ignore = () => undefined;
const silent = { error: ignore, warn: ignore, info: ignore, debug: ignore };

/** Null: it cannot be said. What the rule names is too large, or it fails, as by an operator on what is none of its values. */
export function ruleHolds(rule: unknown, facts: Readonly<Record<string, unknown>>): boolean | null {
  const context = pick(facts, pathsIn(rule));
  try {
    checkContext(context, JSON.stringify(context).length);
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
  return evaluate(rule, context);
}

function evaluate(rule: unknown, context: Context): boolean | null {
  const definition = {
    state: 'ENABLED',
    variants: { holds: 'holds', fails: 'fails' },
    defaultVariant: 'fails',
    targeting: { if: [rule, 'holds', 'fails'] },
  } as unknown as ConstructorParameters<typeof FeatureFlag>[1];
  try {
    const flag = new FeatureFlag('rule', definition, silent, { disableDynamicCodeGeneration: true });
    const { variant } = flag.evaluate(context as Parameters<FeatureFlag['evaluate']>[0], silent);
    return variant === 'holds' || variant === 'fails' ? variant === 'holds' : null;
  } catch {
    return null;
  }
}

/** What `var` and `missing` name; a path that an expression makes names all. */
function pathsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  if (Array.isArray(part)) return part.flatMap(pathsIn);
  return Object.entries(part).flatMap(([operator, value]) => {
    const [first, ...rest] = Array.isArray(value) ? value : [value];
    const inner = pathsIn(Array.isArray(value) ? value : [value]);
    if (operator === 'var') return [typeof first === 'string' ? first : '', ...pathsIn(rest)];
    if (operator === 'missing') return [...[first, ...rest].flat().map(String), ...inner];
    return operator === 'missing_some' ? [...rest.flat().map(String), ...inner] : inner;
  });
}

/** What a rule names: the whole value, or some of its members. */
interface Wanted {
  isWhole: boolean;
  readonly members: Map<string, Wanted>;
}

/** Each value of the facts is looked at once, however many paths lead through it; nothing of it is copied. */
function pick(facts: Readonly<Record<string, unknown>>, paths: readonly string[]): Record<string, unknown> {
  const all: Wanted = { isWhole: paths.includes(''), members: new Map() };
  for (const path of paths) want(all, path.split('.'));
  return fieldsOf(wantedOf(facts, all));
}

function want(all: Wanted, names: readonly string[]): void {
  let at = all;
  for (const name of names) {
    const next = at.members.get(name) ?? { isWhole: false, members: new Map() };
    at.members.set(name, next);
    at = next;
  }
  at.isWhole = true;
}

/** Undefined: none of it is there. */
function wantedOf(value: unknown, { isWhole, members }: Wanted): unknown {
  if (isWhole) return value;
  const found = [...members].flatMap(([name, wanted]) => {
    const member = wantedOf(memberOf(value, name), wanted);
    return member === undefined ? [] : [[name, member] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function memberOf(value: unknown, name: string): unknown {
  const fields = Array.isArray(value) ? (value as unknown as Record<string, unknown>) : fieldsOf(value);
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
