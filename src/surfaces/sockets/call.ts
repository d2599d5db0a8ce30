// Calls of capabilities that a socket makes: each waits for a place to run in, as a request does.
import type { CallContext, InvokedInput } from '../../core/context.ts';
import type { EntryForm } from '../../core/entry-form.ts';
import type { Principal } from '../../core/principal.ts';
import type { Endpoint } from '../../gateway/endpoint.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { invoke, perform } from '../../gateway/invoke.ts';
import { toProblem } from '../../gateway/to-problem.ts';
import type { Answer } from '../../kit/capability.ts';
import type { RawOutcome } from '../../kit/raw-route.ts';
import { newId } from '../../lib/ids.ts';
import { OccupiedPlace } from '../rest/occupy.ts';

export interface Caller {
  readonly principal: Principal;
  readonly entryForm: EntryForm;
  readonly traceId: string;
  readonly signal: AbortSignal;
}

/** Never throws for what it fails with. */
export async function callFor(
  gateway: Gateway,
  caller: Caller,
  capability: string,
  call: { readonly input: InvokedInput; readonly idempotencyKey: string | null },
): Promise<RawOutcome> {
  try {
    return await placed(gateway, caller, capability, (placed) => invoke(gateway, { ...placed, ...call }));
  } catch (error) {
    const problem = toProblem(error);
    const { entryForm, traceId } = caller;
    const identity = { requestId: newId('req_'), traceId, startedMs: performance.now(), entryForm, warnings: [] };
    return { status: problem.httpStatus, envelope: gateway.envelope.failure(identity, problem), answer: null, problem };
  }
}

/** By `work` in place of the capability's own run. Throws the Problem of a refusal or failure. */
export function performFor(
  gateway: Gateway,
  caller: Caller,
  capability: string,
  work: (ctx: CallContext) => Promise<Answer>,
): Promise<Answer> {
  return placed(gateway, caller, capability, (placed) => perform(gateway, placed, work));
}

type Placed = Caller & { readonly endpoint: Endpoint; readonly place: OccupiedPlace };

async function placed<Result>(
  { endpoints, traffic }: Gateway,
  caller: Caller,
  capability: string,
  call: (placed: Placed) => Promise<Result>,
): Promise<Result> {
  const endpoint = endpoints.get(capability);
  if (endpoint === undefined) throw new Error(`there is no capability ${capability} to be called`);
  const place = traffic.begin(caller.principal.accountId);
  try {
    await traffic.run(place);
    return await call({ ...caller, endpoint, place: new OccupiedPlace(traffic, place) });
  } finally {
    traffic.end(place);
  }
}
