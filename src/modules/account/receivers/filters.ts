// Filters: which requests become messages. The rule is JsonLogic as flags have it, bounded when it is written; of a request it sees the fields
// that it names.
import { FeatureFlag } from '@openfeature/flagd-core';
import { type Context, checkContext } from '../../../kit/json-logic/cost.ts';
import { Problem } from '../../../problems/problem.ts';
import { fieldsOf } from './schemes.ts';

export interface Filter {
  readonly events: readonly string[];
  /** A rule that answers true or false; null: none. */
  readonly json: unknown;
}

/** `unsure`: the rule could not be asked, for what it names in the request is too large. */
export type Verdict = 'passes' | 'filtered' | 'unsure';

const ignore = () => undefined;
const silent = { error: ignore, warn: ignore, info: ignore, debug: ignore };

export function judge({ events, json }: Filter, request: Readonly<Record<string, unknown>>): Verdict {
  if (events.length > 0 && !events.some((event) => isMatch(event, request.event))) return 'filtered';
  if (json === null) return 'passes';
  const context = pick(request, pathsIn(json));
  try {
    checkContext(context, JSON.stringify(context).length);
  } catch (error) {
    if (error instanceof Problem) return 'unsure';
    throw error;
  }
  return holds(json, context);
}

function isMatch(wanted: string, event: unknown): boolean {
  if (typeof event !== 'string') return false;
  return wanted.endsWith('*') ? event.startsWith(wanted.slice(0, -1)) : event === wanted;
}

/** A rule that fails, as by an operator on what is none of its values, lets the request pass: nothing is lost by it. */
function holds(json: unknown, context: Context): Verdict {
  const definition = {
    state: 'ENABLED',
    variants: { passes: 'passes', filtered: 'filtered' },
    defaultVariant: 'filtered',
    targeting: { if: [json, 'passes', 'filtered'] },
  } as unknown as ConstructorParameters<typeof FeatureFlag>[1];
  try {
    const flag = new FeatureFlag('filter', definition, silent, { disableDynamicCodeGeneration: true });
    const { variant } = flag.evaluate(context as Parameters<FeatureFlag['evaluate']>[0], silent);
    return variant === 'passes' || variant === 'filtered' ? variant : 'unsure';
  } catch {
    return 'unsure';
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

function pick(request: Readonly<Record<string, unknown>>, paths: readonly string[]): Record<string, unknown> {
  if (paths.includes('')) return { ...request };
  const picked: Record<string, unknown> = {};
  for (const path of new Set(paths)) {
    const names = path.split('.');
    const value = names.reduce<unknown>((within, name) => memberOf(within, name), request);
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
