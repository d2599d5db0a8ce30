// Parser of times and steps of Prometheus' API: a time is seconds or RFC 3339, a step is seconds or a duration such as 5m.
import { parseInstant } from '../../../lib/instant.ts';
import { invalidField } from '../../../problems/problem.ts';
import { durationMs } from '../promql/literals.ts';
import type { QueryRange } from '../promql/select.ts';

const SECONDS = /^-?\d{1,12}(\.\d{1,9})?$/;
const LOW_MS = 0;
const HIGH_MS = Date.parse('9999-12-31T00:00:00Z');

/** Epoch milliseconds. Throws VALIDATION_FAILED naming `param`. */
export function timeMs(text: string, param: string): number {
  const ms = SECONDS.test(text) ? Math.round(Number(text) * 1_000) : parseInstant(text);
  if (ms === null || !(ms >= LOW_MS && ms <= HIGH_MS)) {
    throw invalidField(
      param,
      'format',
      `${param} must be seconds since 1970, or an instant such as 2030-12-24T18:00:00Z.`,
    );
  }
  return ms;
}

export function stepMs(text: string): number {
  const ms = SECONDS.test(text) ? Math.round(Number(text) * 1_000) : durationMs(text);
  if (ms === null || !(ms > 0))
    throw invalidField('step', 'format', 'step must be seconds above 0, or a duration such as 30s.');
  return ms;
}

export function rangeOf(start: number, end: number, step: number): QueryRange {
  if (end < start) throw invalidField('end', 'minimum', 'end must not be before start.');
  return { startMs: start, endMs: end, stepMs: step };
}
