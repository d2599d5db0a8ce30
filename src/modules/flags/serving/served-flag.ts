// A flag ready for evaluation: flagd's evaluator picks the variant; values stay the JSON text that is stored. Rules are interpreted, never
// compiled to code. A rule is prepared on its first evaluation (some 60 µs; an evaluation takes less than 1 µs). Import this file lazily: the
// evaluator takes 12 MB.
import { FeatureFlag } from '@openfeature/flagd-core';
import type { Context } from '../../../kit/json-logic/cost.ts';
import { definitionOf, type FlagRow } from '../flags/flag.ts';

/** Of one flag for one context. `value` and `metadata`: JSON; value null: the code that asks uses its own default. */
export interface Evaluation {
  readonly key: string;
  readonly value: string | null;
  readonly variant: string | null;
  readonly reason: string;
  readonly errorCode: string | null;
  readonly metadata: string;
}

const ignore = () => undefined;
const silent = { error: ignore, warn: ignore, info: ignore, debug: ignore };

export class ServedFlag {
  readonly row: FlagRow;
  readonly #ofAll: object;
  #compiled: ReturnType<typeof compile> | null = null;

  /** `metadata`: of all flags of the account. */
  constructor(row: FlagRow, metadata: object) {
    this.row = row;
    this.#ofAll = metadata;
  }

  evaluate(context: Context): Evaluation {
    this.#compiled ??= compile(this.row, this.#ofAll);
    const { flag, values, metadata } = this.#compiled;
    const none = { key: this.row.key, value: null, variant: null, metadata };
    if (!this.row.enabled) return { ...none, reason: 'DISABLED', errorCode: null };
    const { variant, reason = 'UNKNOWN', errorCode = null } = decide(flag, context);
    if (errorCode !== null || variant === undefined) return { ...none, reason, errorCode };
    return { ...none, value: values.get(variant) ?? null, variant, reason, errorCode };
  }
}

/** `values`: JSON by the name of the variant. */
function compile(row: FlagRow, ofAll: object) {
  const { variants, targeting: written, metadata } = definitionOf(row);
  const targeting = asCompiled(written);
  const names = Object.keys(variants);
  const definition = {
    state: 'ENABLED',
    variants: Object.fromEntries(names.map((name) => [name, name])),
    targeting,
    ...(row.default_variant === null ? {} : { defaultVariant: row.default_variant }),
  } as unknown as ConstructorParameters<typeof FeatureFlag>[1];
  return {
    flag: new FeatureFlag(row.key, definition, silent, { disableDynamicCodeGeneration: true }),
    values: new Map(names.map((name) => [name, JSON.stringify(variants[name])])),
    metadata: JSON.stringify({ ...ofAll, ...metadata }),
  };
}

/** The interpreter leaves a missing variable out of `cat`, where flagd-core's default, which compiles, writes `null`: people would be dealt out otherwise. */
function asCompiled(part: unknown): unknown {
  if (part === null || typeof part !== 'object') return part;
  if (Array.isArray(part)) return part.map(asCompiled);
  const inner = Object.entries(part).map(([name, value]) => [name, asCompiled(value)] as const);
  const withNull = (each: unknown) => (readsContext(each) ? { '??': [each, 'null'] } : each);
  return Object.fromEntries(
    inner.map(([name, value]) => [name, name === 'cat' && Array.isArray(value) ? value.map(withNull) : value]),
  );
}

function readsContext(part: unknown): boolean {
  if (part === null || typeof part !== 'object') return false;
  return Object.hasOwn(part, 'var') || Object.values(part).some(readsContext);
}

/** A rule may answer what has no text, such as an object of the context with a member `toString`. */
function decide(flag: FeatureFlag, context: Context): { variant?: string; reason?: string; errorCode?: string } {
  try {
    return flag.evaluate(context as Parameters<FeatureFlag['evaluate']>[0], silent);
  } catch {
    return { reason: 'ERROR', errorCode: 'GENERAL' };
  }
}
