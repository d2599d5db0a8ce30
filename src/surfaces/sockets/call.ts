// Calls of capabilities that a socket makes: each waits for a place to run in, as a request does.
import type { InvokedInput } from '../../core/context.ts';
import type { EntryForm } from '../../core/entry-form.ts';
import type { Principal } from '../../core/principal.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { invoke } from '../../gateway/invoke.ts';
import { toProblem } from '../../gateway/to-problem.ts';
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
  const endpoint = gateway.endpoints.get(capability);
  if (endpoint === undefined) throw new Error(`there is no capability ${capability} to be called`);
  const { traffic, envelope } = gateway;
  const place = traffic.begin(caller.principal.accountId);
  try {
    await traffic.run(place);
    return await invoke(gateway, { ...caller, ...call, endpoint, place: new OccupiedPlace(traffic, place) });
  } catch (error) {
    const problem = toProblem(error);
    const { entryForm, traceId } = caller;
    const identity = { requestId: newId('req_'), traceId, startedMs: performance.now(), entryForm, warnings: [] };
    return { status: problem.httpStatus, envelope: envelope.failure(identity, problem), answer: null, problem };
  } finally {
    traffic.end(place);
  }
}
