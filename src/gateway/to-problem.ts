// Converts any thrown error to a Problem: database outages become 503, unforeseen errors 500, which the caller logs.
import { CommitUnknown, isConnectionError, sqlState } from '../db/database.ts';
import { Problem, problem } from '../problems/problem.ts';

/** Lock or statement time-outs, and conflicts: somebody else works on the same rows for too long. */
const BUSY: ReadonlySet<string | undefined> = new Set(['55P03', '57014', '40001', '40P01']);

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // Of Node's functions that were given the signal of a call.
  if (error instanceof Error && error.name === 'AbortError' && error.cause instanceof Problem) return error.cause;
  const isAway = isConnectionError(error) || error instanceof CommitUnknown;
  if (isAway || BUSY.has(sqlState(error))) return problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, cause: error });
  return problem('INTERNAL_ERROR', { cause: error });
}
