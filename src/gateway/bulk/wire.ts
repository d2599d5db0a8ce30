// Messages between the service and the threads that read bodies. Problems lose their class in transfer and are rebuilt on arrival.
import type { Reduced } from '../../kit/bulk-body.ts';
import type { ProblemEntry } from '../../problems/catalogue.ts';
import { Problem, type ProblemOptions } from '../../problems/problem.ts';
import type { BulkOutcome, RequestParts } from './outcome.ts';

export interface Job {
  /** URL of the file that exports the capability or the task. */
  readonly source: string;
  readonly id: string;
  readonly body: readonly Uint8Array<ArrayBuffer>[];
  /** Null: the body of a task. */
  readonly key: RequestParts | null;
}

export type PlainProblem = readonly [code: string, entry: ProblemEntry, options: ProblemOptions];

export type Done =
  | { readonly outcome: PlainOutcome }
  | { readonly result: unknown }
  | { readonly refused: PlainProblem }
  | { readonly broken: string };

/** What a thread answers; `transfer` is handed over with it. */
export interface Read {
  readonly done: Done;
  readonly transfer: Transfer;
}

type PlainOutcome = Omit<BulkOutcome, 'failure'> & { readonly failure: PlainProblem | null };

export function toPlain(failure: Problem): PlainProblem {
  const { code, entry, message, detail, param, didYouMean, retryAfterMs, errors } = failure;
  return [code, entry, { message, detail, param, didYouMean, retryAfterMs, errors }];
}

export function plainOutcome(outcome: BulkOutcome): PlainOutcome {
  return { ...outcome, failure: outcome.failure === null ? null : toPlain(outcome.failure) };
}

export function fromPlain([code, entry, options]: PlainProblem): Problem {
  return new Problem(code, entry, options);
}

export function fromPlainOutcome(outcome: PlainOutcome): BulkOutcome {
  return { ...outcome, failure: outcome.failure === null ? null : fromPlain(outcome.failure) };
}

export type Transfer = Reduced['transfer'];
