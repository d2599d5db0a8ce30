// Lifecycle rules of a bucket as an S3 client puts them. Only the settings `expire` and `abort_uploads` are applied; native calls read and set
// the same ones. The rest (ids, order, disabled rules, the form of a prefix) is stored beside them, so that clients read back what they wrote.
import { isDeepStrictEqual } from 'node:util';

export const LIFECYCLE_RULES_MAX = 10;
export const LIFECYCLE_DAYS_MAX = 36_500;

/** What is so many days old below a prefix. */
export interface AgeRule {
  readonly prefix: string;
  readonly days: number;
}

export interface LifecycleRule {
  readonly id: string;
  readonly isEnabled: boolean;
  /** Where the prefix stood: in the rule itself, in its filter, in neither (then it is empty). */
  readonly form: 'prefix' | 'filter_prefix' | 'filter' | 'none';
  readonly prefix: string;
  /** Null: objects stay. */
  readonly expireDays: number | null;
  /** Null: unfinished uploads stay. */
  readonly abortDays: number | null;
}

/** Which small objects a change of the storage class leaves out. There is one class here, so it is only told again. */
export const TRANSITION_MINIMA = ['all_storage_classes_128K', 'varies_by_storage_class'] as const;
export type TransitionMinimum = (typeof TRANSITION_MINIMA)[number];

export interface Lifecycle {
  readonly rules: readonly LifecycleRule[];
  readonly transitionMinimum: TransitionMinimum;
}

/** What of a bucket's settings goes by age. */
export interface AppliedRules {
  readonly expire: readonly AgeRule[];
  readonly abort_uploads: readonly AgeRule[];
}

export function appliedRules({ rules }: Lifecycle): AppliedRules {
  const enabled = rules.filter(({ isEnabled }) => isEnabled);
  const of = (days: (rule: LifecycleRule) => number | null) =>
    enabled.flatMap((rule) => {
      const after = days(rule);
      return after === null ? [] : [{ prefix: rule.prefix, days: after }];
    });
  return { expire: of(({ expireDays }) => expireDays), abort_uploads: of(({ abortDays }) => abortDays) };
}

/** Null: native calls have changed what is applied, so the rules are no longer those that were put. */
export function lifecycleAfter(before: Lifecycle | null, applied: AppliedRules): Lifecycle | null {
  return before !== null && isDeepStrictEqual(appliedRules(before), applied) ? before : null;
}

/** As clients of S3 see the rules of a bucket. */
export function lifecycleShown(lifecycle: Lifecycle | null, { expire, abort_uploads: abort }: AppliedRules): Lifecycle {
  if (lifecycle !== null) return lifecycle;
  const common = { isEnabled: true, form: 'filter_prefix', expireDays: null, abortDays: null } as const;
  return {
    rules: [
      ...expire.map(({ prefix, days }, at) => ({ ...common, id: `expire-${at + 1}`, prefix, expireDays: days })),
      ...abort.map(({ prefix, days }, at) => ({ ...common, id: `abort-${at + 1}`, prefix, abortDays: days })),
    ],
    transitionMinimum: TRANSITION_MINIMA[0],
  };
}
