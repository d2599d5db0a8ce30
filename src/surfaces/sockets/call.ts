// Capability calls made by a socket. Each waits for a slot, as a request does.
import type { InvokedInput } from '../../core/callers/context.ts';
import type { EntryForm } from '../../core/callers/entry-form.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { askedWith } from '../../gateway/approvals.ts';
import type { Call } from '../../gateway/call.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { type Invocation, invoke, perform } from '../../gateway/invoke.ts';
import { toProblem } from '../../gateway/to-problem.ts';
import type { Answer } from '../../kit/capability.ts';
import type { RawOutcome } from '../../kit/raw-route.ts';
import type { CallContext } from '../../kit/services.ts';
import { newId } from '../../lib/ids.ts';
import { problem } from '../../problems/problem.ts';
import { OccupiedPlace } from '../rest/occupy.ts';

/** What a socket was accepted with. */
interface Origin {
  readonly gateway: Gateway;
  readonly entryForm: EntryForm;
  readonly traceId: string;
}

/** Who has opened it, as they are now. */
interface Caller {
  readonly principal: Principal | null;
  readonly signal: AbortSignal;
}

/** Never throws for what it fails with. */
export async function callFor(
  origin: Origin,
  caller: Caller,
  capability: string,
  call: { readonly input: InvokedInput; readonly idempotencyKey: string | null },
): Promise<RawOutcome> {
  try {
    return await withPlace(origin, caller, capability, (placed) => invoke(origin.gateway, { ...placed, ...call }));
  } catch (error) {
    const problem = toProblem(error);
    const { gateway, entryForm, traceId } = origin;
    const identity = { requestId: newId('req_'), traceId, startedMs: performance.now(), entryForm, warnings: [] };
    return { status: problem.httpStatus, envelope: gateway.envelope.failure(identity, problem), answer: null, problem };
  }
}

/** By `work` in place of the capability's own run. Throws the Problem of a refusal or failure. */
export function performFor(
  origin: Origin,
  caller: Caller,
  capability: string,
  input: Readonly<Record<string, unknown>>,
  work: (ctx: CallContext) => Promise<Answer>,
): Promise<Answer> {
  const askOf = (call: Call) => askedWith(call, input);
  return withPlace(origin, caller, capability, (placed) => perform(origin.gateway, { ...placed, askOf }, work));
}

type Placed = Omit<Invocation, 'input' | 'idempotencyKey'>;

/** Throws UNAUTHORIZED for a socket that has not identified itself. */
async function withPlace<Result>(
  { gateway: { endpoints, traffic }, entryForm, traceId }: Origin,
  { principal, signal }: Caller,
  capability: string,
  call: (placed: Placed) => Promise<Result>,
): Promise<Result> {
  if (principal === null) throw problem('UNAUTHORIZED');
  const endpoint = endpoints.get(capability);
  if (endpoint === undefined) throw new Error(`there is no capability ${capability} to be called`);
  const place = traffic.begin(principal.accountId);
  try {
    await traffic.run(place);
    const occupied = new OccupiedPlace(traffic, place);
    return await call({ principal, signal, entryForm, traceId, endpoint, place: occupied });
  } finally {
    traffic.end(place);
  }
}
