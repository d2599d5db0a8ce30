// The way of a call, as a visible list. No step knows a module; no module knows HTTP.
import { CommitUnknown, isConnectionError, sqlState } from '../db/database.ts';
import type { Answer } from '../manifest/capability.ts';
import { Problem, problem } from '../problems/problem.ts';
import type { Call } from './call.ts';
import type { Gateway, Step } from './step.ts';
import { authenticate } from './steps/authenticate.ts';
import { authorize } from './steps/authorize.ts';
import { confirmKey } from './steps/confirm-key.ts';
import { limitRate } from './steps/limit-rate.ts';
import { parseBody } from './steps/parse-body.ts';
import { readIdempotencyKey } from './steps/read-idempotency-key.ts';
import { validate } from './steps/validate.ts';
import { weighBody } from './steps/weigh-body.ts';

/** Before the body is read: nobody without a key makes the service read megabytes. */
export const beforeBody: readonly Step[] = [authenticate, authorize, limitRate];
/** Once the body is there. */
export const afterBody: readonly Step[] = [confirmKey, weighBody, parseBody, readIdempotencyKey, validate];

export async function runSteps(steps: readonly Step[], call: Call, gateway: Gateway): Promise<void> {
  for (const step of steps) {
    const pending = step(call, gateway);
    if (pending !== undefined) await pending;
  }
}

/** Runs the capability. Idempotency, charge and effect happen in the lane or in the write's transaction. */
export function runCapability(call: Call): Promise<Answer> {
  const { capability, state } = call.endpoint;
  return capability.run({ ctx: call, input: call.input, state: state() });
}

/** Anything thrown becomes a Problem: database outages are 503, what nobody foresaw is 500 and is logged by the caller. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isConnectionError(error) || error instanceof CommitUnknown) {
    return problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, cause: error });
  }
  // Lock or statement time-outs: somebody else works on the same rows for too long.
  const state = sqlState(error);
  if (state === '55P03' || state === '57014' || state === '40001' || state === '40P01') {
    return problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, cause: error });
  }
  return problem('INTERNAL_ERROR', { cause: error });
}
