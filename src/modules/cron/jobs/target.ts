// What a job calls: a URL, or a capability as a key. A queue is the capability that publishes to it. Who makes a job for a capability is the key
// that it runs as, or a person who names one that may no more than they; it is read anew at each run (runs/call.ts).

import type { Principal } from '../../../core/callers/principal.ts';
import { scopesAllow, scopesWithin } from '../../../core/callers/scopes.ts';
import { keyOf } from '../../../core/keys/api-key.ts';
import { currentKey } from '../../../core/keys/current-key.ts';
import type { CallContext, Services } from '../../../kit/services.ts';
import { memberSources } from '../../../lib/json-source.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { invalidField, Problem, problem } from '../../../problems/problem.ts';
import { PAYLOAD_BYTES_MAX } from '../limits.ts';
import type { JobRow } from './records.ts';

export const PUBLISH = 'queue.publish';

/** `target` as it is sent. */
export interface TargetInput {
  readonly url?: string | null;
  readonly queue?: string | null;
  readonly payload?: unknown;
  readonly capability?: string | null;
  readonly input?: unknown;
  readonly key_id?: string | null;
}

export type Target =
  | { readonly kind: 'url'; readonly url: string; readonly param: string }
  | {
      readonly kind: 'call';
      readonly capability: string;
      /** Where the capability is that of a queue. */
      readonly queue: string | null;
      /** JSON text: what is published, or the input of the capability. */
      readonly payload: string;
      /** The key that a person names. */
      readonly keyId: string | null;
    };

interface Sent {
  readonly task?: string | null;
  readonly target?: TargetInput | null;
}

/** Undefined: the call says nothing about it. `inputText`: JSON text of the whole input. Throws what is wrong in itself. */
export function targetOf({ task, target }: Sent, inputText: string): Target | undefined {
  if (target == null) return task == null ? undefined : { kind: 'url', url: task, param: 'task' };
  if (task != null) throw problem('INVALID_REQUEST', { param: 'target', message: 'Send task or target, not both.' });
  const { url, queue, capability, key_id: keyId = null } = target;
  const kinds = [url, queue, capability].filter((kind) => kind != null);
  if (kinds.length !== 1)
    throw invalidField('target', 'kind', 'target must name one of url, queue and capability: what each run calls.');
  for (const name of ['url', 'queue', 'capability'] as const) refuseForeign(target, name);
  const texts = partsOf(inputText);
  if (url != null) return { kind: 'url', url, param: 'target.url' };
  if (queue != null) {
    return {
      kind: 'call',
      capability: PUBLISH,
      queue,
      payload: requireBounded(texts.payload ?? '{}', 'target.payload'),
      keyId,
    };
  }
  const payload = requireBounded(texts.input ?? '{}', 'target.input');
  return { kind: 'call', capability: capability as string, queue: null, payload, keyId };
}

/** The input that the capability is called with. */
export function inputOf({ queue, payload }: { readonly queue: string | null; readonly payload: string }): JsonText {
  return new JsonText(queue === null ? payload : `{"queue":${JSON.stringify(queue)},"payload":${payload}}`);
}

/** Looks at a target as the job will call it. Answers the key that it runs as; null: a URL needs none. Resolves names, so never in a transaction. */
export async function checkTarget(ctx: CallContext, target: Target): Promise<string | null> {
  if (target.kind === 'call') return requireRunnable(ctx, target);
  const warning = await ctx.core.outbound.checkUrl(target.url, target.param);
  if (warning !== null) ctx.warnings.push(warning);
  return null;
}

/**
 * The key that the job runs as, which may make the call as it stands. Throws what the call would throw, `param` within `target`; VALIDATION_FAILED
 * for a key that is not the caller's to name, INSUFFICIENT_SCOPE for one that may more than the person.
 */
async function requireRunnable(ctx: CallContext, target: Target & { kind: 'call' }): Promise<string> {
  const key = await runnerOf(ctx, target.keyId);
  const { capability, queue } = target;
  try {
    await ctx.core.calls.plan(key, { capability, input: inputOf(target) });
  } catch (error) {
    throw error instanceof Problem ? within(error, queue !== null) : error;
  }
  return key.id;
}

async function runnerOf({ core, accountId, principal }: CallContext, keyId: string | null): Promise<Principal> {
  if (keyOf(principal) !== null) {
    if (keyId === null || keyId === principal.id) return principal;
    throw invalidField('target.key_id', 'own_key', 'A key schedules calls as itself: leave target.key_id out.');
  }
  if (keyId === null)
    throw invalidField(
      'target.key_id',
      'required',
      'Name the API key that the runs call as: target.key_id. A session ends.',
    );
  const key = await currentKey(core.keys, accountId, keyId).catch((error: unknown) => {
    if (!(error instanceof Problem) || error.code !== 'INVALID_API_KEY') throw error;
    throw invalidField('target.key_id', 'no_live_key', 'target.key_id names no live API key of this account.');
  });
  if (scopesWithin(core.knownScopes, key.scopes, principal.scopes)) return key;
  throw problem('INSUFFICIENT_SCOPE', {
    param: 'target.key_id',
    message: 'The key may do what you may not. Name one whose scopes are within yours.',
  });
}

/**
 * What a job calls as another key is begun, and begun at other times, by who may make that call. A cap would not hold for it. Throws
 * INSUFFICIENT_SCOPE.
 */
export function requireMayBegin(
  { knownScopes }: Pick<Services, 'knownScopes'>,
  { id, scopes, hasSpendCap }: Pick<Principal, 'id' | 'scopes' | 'hasSpendCap'>,
  { capability, run_as: runAs }: Pick<JobRow, 'capability' | 'run_as'>,
): void {
  if (capability === null || runAs === id) return;
  if (!scopesAllow(scopes, capability, knownScopes.kinds.get(capability) ?? 'admin'))
    throw problem('INSUFFICIENT_SCOPE', {
      message: `The job calls ${capability} as another key, and this one may not: it needs a scope such as ${capability}.`,
      detail: capability,
    });
  if (hasSpendCap)
    throw problem('INSUFFICIENT_SCOPE', {
      message: 'The job spends as another key, and this one has a spend cap: use a key without one.',
      detail: 'spend_cap',
    });
}

/** The same failure, of a field of the target. */
function within(failure: Problem, isQueue: boolean): Problem {
  const place = (param: string) => {
    if (param === 'capability') return 'target.capability';
    return isQueue ? `target.${param}` : `target.input.${param}`;
  };
  const { code, entry, message, detail, param, didYouMean, errors } = failure;
  return new Problem(code, entry, {
    message,
    didYouMean,
    param: param === undefined ? 'target.capability' : place(param),
    ...(detail === undefined ? {} : { detail }),
    ...(errors === undefined ? {} : { errors: errors.map((each) => ({ ...each, param: place(each.param) })) }),
    cause: failure,
  });
}

const OWN_FIELDS = { url: [], queue: ['payload', 'key_id'], capability: ['input', 'key_id'] } as const;

function refuseForeign(target: TargetInput, kind: keyof typeof OWN_FIELDS): void {
  if (target[kind] == null) return;
  const own: readonly string[] = [kind, ...OWN_FIELDS[kind]];
  const foreign = Object.entries(target).find(([name, value]) => value != null && !own.includes(name));
  if (foreign === undefined) return;
  const where =
    kind === 'url'
      ? 'payload, beside target, is what is sent to a URL'
      : `fields beside ${kind}: ${own.slice(1).join(', ')}`;
  throw invalidField(
    `target.${foreign[0]}`,
    'not_of_kind',
    `target.${foreign[0]} does not go with ${kind} (${where}).`,
  );
}

/** Payload and input byte for byte. */
function partsOf(inputText: string): { readonly payload?: string; readonly input?: string } {
  const target = memberSources(inputText).get('target');
  if (target === undefined) return {};
  const text = inputText.slice(target.start, target.end);
  const members = memberSources(text);
  const part = (name: string) => {
    const source = members.get(name);
    return source === undefined ? {} : { [name]: text.slice(source.start, source.end) };
  };
  return { ...part('payload'), ...part('input') };
}

function requireBounded(text: string, param: string): string {
  if (Buffer.byteLength(text) <= PAYLOAD_BYTES_MAX) return text;
  throw invalidField(param, 'size', `${param} must be at most ${PAYLOAD_BYTES_MAX} bytes of JSON.`);
}
