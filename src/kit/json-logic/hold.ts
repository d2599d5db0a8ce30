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

function pick(facts: Readonly<Record<string, unknown>>, paths: readonly string[]): Record<string, unknown> {
  if (paths.includes('')) return { ...facts };
  const picked: Record<string, unknown> = {};
  for (const path of new Set(paths)) {
    const names = path.split('.');
    const value = names.reduce<unknown>((within, name) => memberOf(within, name), facts);
    if (value !== undefined) place(picked, names, value);
  }
  return picked;
}

function memberOf(value: unknown, name: string): unknown {
  const fields = Array.isArray(value) ? (value as unknown as Record<string, unknown>) : fieldsOf(value);
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function place(into: Record<string, unknown>, names: readonly string[], value: unknown): void {
  const last = names.at(-1) as string;
  let within = into;
  for (const name of names.slice(0, -1)) {
    const inner = Object.hasOwn(within, name) ? within[name] : undefined;
    const next = Array.isArray(inner) ? { ...inner } : { ...fieldsOf(inner) };
    Object.defineProperty(within, name, { value: next, enumerable: true, configurable: true, writable: true });
    within = next as Record<string, unknown>;
  }
  Object.defineProperty(within, last, { value, enumerable: true, configurable: true, writable: true });
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
