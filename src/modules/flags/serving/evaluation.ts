// What an evaluation answers.

/** Of one flag for one context. `value` and `metadata`: JSON; value null: the code that asks uses its own default. */
export interface Evaluation {
  readonly key: string;
  readonly value: string | null;
  readonly variant: string | null;
  readonly reason: string;
  readonly errorCode: string | null;
  readonly metadata: string;
}

/** Of a key without a flag, or of a flag of another type than is asked for. */
export function failedEvaluation(key: string, errorCode: string): Evaluation {
  return { key, value: null, variant: null, reason: 'ERROR', errorCode, metadata: '{}' };
}
