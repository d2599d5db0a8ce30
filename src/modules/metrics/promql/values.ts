// Intermediate values of an evaluation: at each step a scalar, or a vector of series of which some have a value.
import { executionError } from './execution-error.ts';
import type { Expressions } from './expressions.ts';
import { type Labels, labelsText, signature } from './labels.ts';
import type { QueryRange } from './select.ts';
import { tooComplex } from './too-complex.ts';

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
  /** What those of the query have cost so far; absent: nothing. */
  readonly expressions?: Expressions;
}

/** Counts the work of one query: it ends with VALIDATION_FAILED, code_detail `too_complex`. */
export class Budget {
  readonly #bounds: Bounds;
  #samples = 0;
  #characters = 0;
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

  /** Before labels of so many characters are made. */
  write(characters: number): void {
    this.#characters += characters;
    if (this.#characters <= CHARACTERS_MAX) return;
    throw tooComplex(`The query makes labels of more than ${CHARACTERS_MAX} characters.`);
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
/** Of labels that a query makes. */
const CHARACTERS_MAX = 8_000_000;

/** What evaluation knows of the query as a whole. */
export interface Evaluation {
  /** Of the whole query; `range` is another within a subquery. */
  readonly query: QueryRange;
  readonly range: QueryRange;
  readonly steps: number;
  readonly data: readonly (readonly Series[])[];
  readonly budget: Budget;
  readonly expressions: Expressions;
}

export function emptyOf({ steps, budget }: Evaluation, labels: Labels): Stepped {
  budget.take(steps);
  return { labels, values: new Float64Array(steps), has: new Uint8Array(steps) };
}

/** Series with equal labels are one, as long as they have no value at the same step. Throws when they have. */
export function joinEqual(series: readonly Stepped[]): readonly Stepped[] {
  const known = new Map<string, Stepped>();
  for (const each of series) {
    const key = signature(each.labels);
    const same = known.get(key);
    if (same === undefined) known.set(key, each);
    else join(same, each);
  }
  return known.size === series.length ? series : [...known.values()];
}

function join(into: Stepped, { labels, values, has }: Stepped): void {
  for (const [step, own] of has.entries()) {
    if (own === 0) continue;
    if (into.has[step] === 1) throw twice(labels);
    into.has[step] = 1;
    into.values[step] = values[step] as number;
  }
}

/** Throws when two series have equal labels, whatever their steps: functions over ranges, and a sign, make no series of several. */
export function requireDistinct(series: readonly Stepped[]): readonly Stepped[] {
  const known = new Set<string>();
  for (const { labels, has } of series) {
    if (!has.includes(1)) continue;
    const key = signature(labels);
    if (known.has(key)) throw twice(labels);
    known.add(key);
  }
  return series;
}

function twice(labels: Labels) {
  return executionError(`The query makes two series with the labels ${labelsText(labels).slice(0, 200)}.`);
}
