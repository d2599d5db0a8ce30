// Calls that the service itself makes: of background work for an account, and of schedules for a key (core/own-calls.ts).

import type { Principal } from '../core/callers/principal.ts';
import { moduleOf } from '../core/callers/scopes.ts';
import type { OwnCall, OwnCallMaker, PlannedCall } from '../core/own-calls.ts';
import { type Capability, isAdministered } from '../kit/capability.ts';
import { nearest } from '../lib/nearest.ts';
import { randomHex } from '../lib/random-hex.ts';
import { secretPaths } from '../manifest/secret-fields.ts';
import { invalidField, problem } from '../problems/problem.ts';
import { authorize } from './authorize.ts';
import { Call } from './call.ts';
import type { Gateway } from './gateway.ts';
import { readInput } from './input/read-input.ts';
import { invoke } from './invoke.ts';

/** What makes runs, of which some would make others without end. */
const SCHEDULES = 'cron';

export function ownCallMaker(gateway: Gateway): OwnCallMaker {
  return {
    make: (principal, call, signal) => make(gateway, principal, call, signal),
    plan: (principal, call) => plan(gateway, principal, call),
  };
}

async function make(
  gateway: Gateway,
  principal: Principal,
  { capability, input, idempotencyKey: key }: OwnCall,
  signal: AbortSignal,
) {
  const endpoint = gateway.endpoints.get(capability);
  if (endpoint === undefined) throw new Error(`there is no capability ${capability} to be called`);
  const idempotencyKey = endpoint.capability.idempotent ? key : null;
  const outcome = await invoke(gateway, { endpoint, principal, input, idempotencyKey, signal, entryForm: 'rest' });
  return { problem: outcome.problem, data: outcome.answer?.data, costNanos: outcome.answer?.costNanos ?? 0n };
}

/** Looks at a call that is to be made later as at one that is made now, without making it. Throws what that would throw. */
async function plan(gateway: Gateway, principal: Principal, { capability, input }: PlannedCall): Promise<void> {
  const endpoint = gateway.endpoints.get(capability) ?? unknown(gateway, capability);
  const refusal = whyNotLater(endpoint.capability);
  if (refusal !== null)
    throw invalidField('capability', 'not_schedulable', `${capability} cannot be scheduled: ${refusal}.`);
  const origin = { entryForm: 'rest', traceId: randomHex(16), onGone: () => undefined } as const;
  const call = new Call(gateway, endpoint, origin);
  try {
    call.setPrincipal(principal);
    authorize(call);
    await readInput(call, gateway, input.text, { key: endpoint.capability.idempotent ? 'planned' : null });
    const secret = secretPaths(endpoint.capability).find((path) => holds(call.input, path));
    if (secret !== undefined)
      throw invalidField(
        secret.join('.'),
        'secret',
        `${secret.join('.')} is a secret, and what is scheduled can be read.`,
      );
  } finally {
    call.release();
  }
}

function unknown({ endpoints }: Gateway, capability: string): never {
  const [didYouMean] = nearest(capability, [...endpoints.keys()], 1);
  const hint = didYouMean === undefined ? 'GET /v1/discovery lists them.' : `Did you mean ${didYouMean}?`;
  throw problem('VALIDATION_FAILED', {
    param: 'capability',
    detail: 'unknown_capability',
    didYouMean,
    message: `There is no such capability. ${hint}`,
  });
}

/** Null: it can be called later, by a run that may be repeated after a crash, and whose answer others may read. */
function whyNotLater(capability: Capability): string | null {
  const { id, scope, idempotent } = capability;
  if (moduleOf(id) === SCHEDULES && scope !== 'read') return 'schedules do not change or run schedules';
  if (isAdministered(capability) || scope === 'admin') return 'it changes or shows rights and money of the account';
  if (capability.answersSecret !== undefined || capability.replay?.secret === true) return 'it answers a secret';
  if (scope !== 'read' && !idempotent)
    return 'it takes no idempotency key, so a repeat after a crash would do it twice';
  return null;
}

function holds(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => holds(item, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return value !== undefined && value !== null;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
  return holds((value as Record<string, unknown>)[name], rest);
}
