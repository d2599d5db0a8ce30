// Creates the gateway of a process, including calls made by other calls and by background work in the name of accounts.
import { admission } from '../core/admission.ts';
import type { Answer } from '../kit/capability.ts';
import { askedWith, askFirst, underRules } from './approvals.ts';
import { Call } from './call.ts';
import { passGates } from './gates.ts';
import type { Gateway } from './gateway.ts';
import { takeIdempotencyKey } from './input/idempotency-key.ts';
import { admit, failCall, isBilled, readAndRun } from './invoke.ts';
import { ownCallMaker } from './own-calls.ts';

/** The gateway of the services given: also how a call makes calls of its own. */
export function createGateway(services: Omit<Gateway, 'invokeWithin' | 'performWithin' | 'askFirst'>): Gateway {
  const gateway: Gateway = {
    ...services,
    askFirst,
    invokeWithin: (parent, capability, input, { step }) =>
      within(gateway, parent, { capability, step }, (call, idempotencyKey) =>
        readAndRun(gateway, call, { principal: parent.principal, input, idempotencyKey }),
      ),
    performWithin: (parent, capability, input, work) =>
      within(gateway, parent, { capability }, async (call, idempotencyKey) => {
        call.setPrincipal(parent.principal);
        await admit(gateway, call);
        await passGates(call);
        if (idempotencyKey !== null) takeIdempotencyKey(call, [idempotencyKey], () => idempotencyKey);
        const asked = askedWith(call, input);
        const answer = await call.trace(() => underRules(gateway, call, asked, () => work(call)));
        call.answer = answer;
        call.billed = isBilled(answer);
        return answer;
      }),
  };
  services.core.calls.bind(ownCallMaker(gateway));
  return gateway;
}

/** Makes a call that a call makes; its cost is added to what that has spent. Throws the Problem of a failure. */
async function within(
  gateway: Gateway,
  parent: Call,
  { capability, step }: { readonly capability: string; readonly step?: string | undefined },
  make: (call: Call, idempotencyKey: string | null) => Promise<Answer>,
): Promise<Answer> {
  const endpoint = gateway.endpoints.get(capability);
  if (endpoint === undefined) throw new Error(`there is no capability ${capability} to be invoked`);
  if (parent.depth >= admission.call.invokedWithinMax)
    throw new Error(`${capability} is invoked too deep within calls`);
  const { entryForm, traceId, idempotency } = parent;
  const onGone = (listener: () => void) => parent.onGone(listener);
  const call = new Call(gateway, endpoint, { entryForm, traceId, onGone }, parent.depth + 1);
  call.place = parent.place;
  call.ignoresUnknown = parent.ignoresUnknown;
  parent.made += 1;
  const isKeyed = idempotency !== null && endpoint.capability.idempotent;
  const idempotencyKey = isKeyed ? `${idempotency.hash} ${step ?? parent.made}` : null;
  try {
    const answer = await make(call, idempotencyKey);
    call.spentNanos += answer.costNanos ?? 0n;
    parent.leftNanos = answer.balanceNanos ?? parent.leftNanos;
    call.end(200);
    return answer;
  } catch (error) {
    throw failCall(gateway, call, error);
  } finally {
    parent.spentNanos += call.spentNanos;
    call.release();
  }
}
