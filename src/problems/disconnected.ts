// The abort reason of a call whose caller disconnected before its answer. It is no failure of the call. Every call's signal is aborted with
// it, on every surface, so everything that waits on the signal ends.
import { type Problem, problem } from './problem.ts';

const DETAIL = 'client_disconnected';

export function disconnectedProblem(): Problem {
  return problem('SERVICE_UNAVAILABLE', { message: 'The client disconnected.', detail: DETAIL });
}

export function isDisconnected({ detail }: Pick<Problem, 'detail'>): boolean {
  return detail === DETAIL;
}
