// What the parts of a query answer while they are evaluated: for each step a number, or a vector of series of which some have a value.
import { invalidField } from '../../../problems/problem.ts';
import { type Labels, signature, written } from './labels.ts';
import type { QueryRange } from './select.ts';

export interface Series {
  readonly labels: Labels;
  /** Epoch milliseconds, ascending. */
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** A series at each step of a range; where `has` is 0 it has no value. */
export interface Stepped {
  readonly labels: Labels;
  readonly values: Float64Array;
  readonly has: Uint8Array;
}

export interface Bounds {
  /** By `performance.now()`. */
  readonly deadlineMs: number;
  /** Values that the parts of a query may have together. */
  readonly samplesMax: number;
  /** Of the answer. */
  readonly seriesMax: number;
}

/** Counts the work of one query: it ends with VALIDATION_FAILED, code_detail `too_complex`. */
export class Budget {
  readonly #bounds: Bounds;
  #samples = 0;
  #untilLook = LOOK_EVERY;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Before so many values are made. */
  take(values: number): void {
    this.#samples += values;
    if (this.#samples > this.#bounds.samplesMax) {
      throw tooComplex(
        `The query works on more than ${this.#bounds.samplesMax} values. Ask for fewer series, or larger steps.`,
      );
    }
    this.work(values);
  }

  /** Of so many operations. */
  work(operations: number): void {
    this.#untilLook -= operations + 1;
    if (this.#untilLook > 0) return;
    this.#untilLook = LOOK_EVERY;
    if (performance.now() > this.#bounds.deadlineMs)
      throw tooComplex('The query takes too long. Ask for fewer series, or a shorter time.');
  }
}

const LOOK_EVERY = 50_000;

export function tooComplex(message: string) {
  return invalidField('query', 'too_complex', message);
}

/** What evaluation knows of the query as a whole. */
export interface Evaluation {
  readonly range: QueryRange;
  readonly steps: number;
  readonly data: readonly (readonly Series[])[];
  readonly budget: Budget;
}

export function emptyOf({ steps, budget }: Evaluation, labels: Labels): Stepped {
  budget.take(steps);
  return { labels, values: new Float64Array(steps), has: new Uint8Array(steps) };
}

/** Throws when two series have the same labels at one step. */
export function requireUnique(series: readonly Stepped[]): readonly Stepped[] {
  const known = new Map<string, Stepped[]>();
  for (const each of series) {
    const key = signature(each.labels);
    const same = known.get(key);
    if (same === undefined) known.set(key, [each]);
    else if (same.some((other) => meet(other, each))) {
      throw invalidField(
        'query',
        'pattern',
        `The query makes two series with the labels ${written(each.labels).slice(0, 200)}.`,
      );
    } else same.push(each);
  }
  return series;
}

function meet(a: Stepped, b: Stepped): boolean {
  return a.has.some((has, step) => has === 1 && b.has[step] === 1);
}
