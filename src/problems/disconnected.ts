// A caller that disconnects before its answer: no failure of the call, and nobody to tell. The signal of every call is aborted with this
// reason, so that whatever waits on it ends with it, at every door.
import { type Problem, problem } from './problem.ts';

const DETAIL = 'client_disconnected';

export function disconnectedProblem(): Problem {
  return problem('SERVICE_UNAVAILABLE', { message: 'The client disconnected.', detail: DETAIL });
}

export function isDisconnected({ detail }: Pick<Problem, 'detail'>): boolean {
  return detail === DETAIL;
}
