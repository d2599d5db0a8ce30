// A flag made ready to be evaluated, when it is first asked for: that takes some 60 µs, an evaluation less than one. The rule is interpreted, never
// turned into code. Loaded when flags are first served: flagd's evaluator takes 12 MB. flagd's evaluator decides the variant; values stay the text that they are stored as.
import { FeatureFlag } from '@openfeature/flagd-core';
import { type FlagRow, settingsOf } from '../flags/definition.ts';
import type { Context } from '../rules/context.ts';
import type { Kind } from '../schemas.ts';
import type { Evaluation } from './evaluation.ts';

const silent = { error: ignore, warn: ignore, info: ignore, debug: ignore };
function ignore(): void {}

export class CompiledFlag {
  readonly key: string;
  readonly kind: Kind;
  readonly enabled: boolean;
  /** What its rule takes at most. */
  readonly steps: number;
  readonly #flag: FeatureFlag;
  readonly #values: ReadonlyMap<string, string>;
  readonly #metadata: string;

  /** `metadata`: of all flags of the account. */
  constructor(row: FlagRow, metadata: object) {
    const { key, kind, enabled, default_variant, variants, targeting, metadata: own } = settingsOf(row);
    this.key = key;
    this.kind = kind;
    this.enabled = enabled;
    this.steps = row.steps;
    const names = Object.keys(variants);
    const flag = {
      state: 'ENABLED' as const,
      variants: Object.fromEntries(names.map((name) => [name, name])),
      ...(default_variant === null ? {} : { defaultVariant: default_variant }),
      targeting,
    };
    this.#flag = new FeatureFlag(key, flag as unknown as ConstructorParameters<typeof FeatureFlag>[1], silent, {
      disableDynamicCodeGeneration: true,
    });
    this.#values = new Map(names.map((name) => [name, JSON.stringify(variants[name])]));
    this.#metadata = JSON.stringify({ ...metadata, ...own });
  }

  evaluate(context: Context): Evaluation {
    const { key } = this;
    const none = { key, value: null, variant: null, metadata: this.#metadata };
    if (!this.enabled) return { ...none, reason: 'DISABLED', errorCode: null };
    const { variant, reason = 'UNKNOWN', errorCode = null } = this.#decide(context);
    if (errorCode !== null || variant === undefined) return { ...none, reason, errorCode };
    return { ...none, value: this.#values.get(variant) ?? null, variant, reason, errorCode };
  }

  /** A rule may answer what has no text, such as an object of the context with a member `toString`. */
  #decide(context: Context): { readonly variant?: string; readonly reason?: string; readonly errorCode?: string } {
    try {
      return this.#flag.evaluate(context as Parameters<FeatureFlag['evaluate']>[0], silent);
    } catch {
      return { reason: 'ERROR', errorCode: 'GENERAL' };
    }
  }
}
