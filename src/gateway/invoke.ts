// The only path by which a capability is called: authorization, rates, input, price, logging and metrics. It knows no HTTP: REST, other
// protocols, and calls between modules are adapters over it. Idempotency, charge and effect commit together in the account's lane, or in the
// write's transaction, where the principal is checked again.

import type { Asked } from '../approvals/call-approval.ts';
import type { InvokedInput } from '../core/callers/context.ts';
import type { EntryForm } from '../core/callers/entry-form.ts';
import type { Principal } from '../core/callers/principal.ts';
import { tokenWorth } from '../core/callers/tiers.ts';
import type { Answer } from '../kit/capability.ts';
import { JsonText, toJson } from '../lib/json-text.ts';
import { randomHex } from '../lib/random-hex.ts';
import { type Problem, problem } from '../problems/problem.ts';
import type { AnsweringPlace, Sender } from './active-request.ts';
import { askedOf, underRules } from './approvals.ts';
import { authorize } from './authorize.ts';
import { Call } from './call.ts';
import type { Endpoint } from './endpoint.ts';
import { passGates } from './gates.ts';
import type { Gateway } from './gateway.ts';
import { readInput } from './input/read-input.ts';
import type { Grant, Rates } from './limits/rate-limiter.ts';
import { toProblem } from './to-problem.ts';

export interface Invocation {
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  /** All fields in one object, those of the path too. */
  readonly input: InvokedInput;
  readonly entryForm: EntryForm;
  /** Null: the input may hold one. */
  readonly idempotencyKey: string | null;
  /** What tells a repeat under the key from another call, in place of the input; absent: the input. */
  readonly fingerprint?: string;
  /** Aborted when whoever asked goes away. */
  readonly signal: AbortSignal;
  /** A new trace when absent. */
  readonly traceId?: string;
  /** Of the request that it is part of, among those that run. */
  readonly place?: AnsweringPlace;
  /** `admitAhead` has let it in: its rate is not taken twice. */
  readonly isAdmitted?: boolean;
  /** Unknown fields are ignored with a warning: of an input that another protocol's rules made, or where the caller asks for it. */
  readonly ignoresUnknown?: boolean;
  /** Of an input that its caller reads: what a rated call pays for. */
  readonly bodyBytes?: number;
  /** The request that it came by. */
  readonly sender?: Sender | null;
}

export interface Outcome {
  readonly status: number;
  /** The whole envelope, as JSON text. */
  readonly envelope: string;
  /** Null: it failed. */
  readonly answer: Answer | null;
  readonly problem: Problem | null;
  readonly requestId: string;
}

/** Calls the capability. Never throws: a failure is an outcome. */
export async function invoke(gateway: Gateway, invocation: Invocation): Promise<Outcome> {
  const { signal, entryForm, sender = null, traceId = randomHex(16), ignoresUnknown = false } = invocation;
  const call = new Call(gateway, invocation.endpoint, { entryForm, traceId, sender, onGone: abortListener(signal) });
  call.place = invocation.place ?? null;
  call.ignoresUnknown = ignoresUnknown;
  const { requestId } = call;
  try {
    const answer = await readAndRun(gateway, call, invocation);
    const envelope = gateway.envelope.success(call, answer);
    call.weigh(Math.floor(envelope.length / tokenWorth.answerBytes));
    call.end(200, envelope);
    return { status: 200, envelope, answer, problem: null, requestId };
  } catch (error) {
    const failure = toProblem(error);
    const envelope = gateway.envelope.failure(call, failure);
    failCall(gateway, call, failure, envelope);
    return { status: failure.httpStatus, envelope, answer: null, problem: failure, requestId };
  } finally {
    call.release();
  }
}

/**
 * Makes a call whose input its caller has read: `work` stands in place of the capability's own run, and all else is as in `invoke`.
 * Throws the Problem of a refusal or failure.
 */
export async function perform(
  gateway: Gateway,
  {
    endpoint,
    principal,
    signal,
    place,
    entryForm,
    sender = null,
    traceId = randomHex(16),
    isAdmitted,
    bodyBytes = 0,
    askOf,
  }: Omit<Invocation, 'input' | 'idempotencyKey'> & { readonly askOf: (call: Call) => Asked },
  work: (call: Call) => Promise<Answer>,
): Promise<Answer> {
  const call = new Call(gateway, endpoint, { entryForm, traceId, sender, onGone: abortListener(signal) });
  call.place = place ?? null;
  try {
    call.setPrincipal(principal);
    await admit(gateway, call, isAdmitted);
    await passGates(call);
    call.weigh(Math.floor(bodyBytes / tokenWorth.bodyBytes));
    const answer = await call.trace(() => underRules(gateway, call, askOf(call), () => work(call)));
    call.answer = answer;
    call.billed = isBilled(answer);
    call.end(200);
    return answer;
  } catch (error) {
    throw failCall(gateway, call, error);
  } finally {
    call.release();
  }
}

function abortListener(signal: AbortSignal) {
  return (listener: () => void) => {
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  };
}

/**
 * All that is asked of a call before its input is looked at. Throws also RATE_LIMITED, CONCURRENCY_LIMITED. There is something to wait
 * for only where a rate is kept by another process.
 */
export function admit({ limiter }: Gateway, call: Call, isAdmitted = false): void | Promise<void> {
  authorize(call);
  if (limiter === null) return;
  const { accountId, tier, endpoint } = call;
  if (endpoint.limitClass === 'none') return begin(limiter, call);
  if (isAdmitted) {
    call.limiter = limiter;
    return begin(limiter, call);
  }
  const grant = limiter.take(accountId, tier, endpoint.limitClass);
  if (grant instanceof Promise) return grant.then((granted) => beginRated(limiter, call, granted));
  return beginRated(limiter, call, grant);
}

/**
 * Asks for scope and takes the rate of a call that is made later in the same request, before anything of its body is decoded or looked
 * up. Throws ACCOUNT_SUSPENDED, INSUFFICIENT_SCOPE, RATE_LIMITED.
 */
export async function admitAhead(
  { limiter }: Gateway,
  { endpoint, principal }: Pick<Invocation, 'endpoint' | 'principal'>,
): Promise<void> {
  authorize({ endpoint, principal });
  if (limiter === null || endpoint.limitClass === 'none') return;
  const grant = await limiter.take(principal.accountId, principal.tier, endpoint.limitClass);
  if (!grant.allowed) throw problem('RATE_LIMITED', { retryAfterMs: grant.retryAfterMs });
}

function beginRated(limiter: Rates, call: Call, grant: Grant): void | Promise<void> {
  call.headers['ratelimit-policy'] = grant.policy;
  call.headers.ratelimit = grant.remaining;
  call.limiter = limiter;
  if (!grant.allowed) throw problem('RATE_LIMITED', { retryAfterMs: grant.retryAfterMs });
  return begin(limiter, call);
}

function begin(limiter: Rates, call: Call): void | Promise<void> {
  const { accountId, tier, endpoint } = call;
  // A waiting consume holds nothing and is not counted; what a call calls runs in its place.
  if (endpoint.capability.waits === true || call.depth > 0) return;
  const occupyPlace = (mayRun: boolean) => {
    if (!mayRun) throw problem('CONCURRENCY_LIMITED', { retryAfterMs: 1000 });
    call.occupy(() => limiter.end(accountId));
  };
  const mayRun = limiter.begin(accountId, tier);
  return mayRun instanceof Promise ? mayRun.then(occupyPlace) : occupyPlace(mayRun);
}

/** Runs the capability on the input that was read. */
export async function run(gateway: Gateway, call: Call): Promise<Answer> {
  const { capability, state } = call.endpoint;
  const work = () => capability.run({ ctx: call, input: call.input, state: state() });
  const answer = await call.trace(() => underRules(gateway, call, askedOf(call), work));
  call.answer = answer;
  call.billed = isBilled(answer);
  return answer;
}

export function isBilled({ costNanos }: Answer): boolean {
  return costNanos !== undefined && costNanos > 0n;
}

type Performed = Pick<Invocation, 'principal' | 'input' | 'idempotencyKey' | 'fingerprint' | 'isAdmitted'>;

export async function readAndRun(
  gateway: Gateway,
  call: Call,
  { principal, input, idempotencyKey, fingerprint, isAdmitted }: Performed,
): Promise<Answer> {
  call.setPrincipal(principal);
  await admit(gateway, call, isAdmitted);
  await passGates(call);
  const text = textOf(input);
  refuseLong(text, call.endpoint);
  call.bytesIn = text.length;
  call.weigh(Math.floor(text.length / tokenWorth.bodyBytes));
  await readInput(call, gateway, text, { key: idempotencyKey, fingerprint });
  return run(gateway, call);
}

/** The same bound as over REST, before the text is looked at. Throws PAYLOAD_TOO_LARGE. */
function refuseLong(text: string, { bodyBytesMax, capability }: Endpoint): void {
  if (text.length <= bodyBytesMax / BYTES_PER_CHARACTER_MAX || Buffer.byteLength(text) <= bodyBytesMax) return;
  throw problem('PAYLOAD_TOO_LARGE', {
    message: `The input of ${capability.id} may have at most ${bodyBytesMax} bytes.`,
  });
}

/** Of UTF-8, for a UTF-16 code unit. */
const BYTES_PER_CHARACTER_MAX = 3;

/** `text`: the answer that tells it, where that is known. */
export function failCall({ core }: Gateway, call: Call, error: unknown, text: string | null = null): Problem {
  const failure = toProblem(error);
  call.failure = failure;
  call.end(failure.httpStatus, text);
  if (failure.httpStatus === 500) {
    const { requestId: request_id, capability } = call;
    core.log.error({ err: failure.cause ?? failure, request_id, capability, code: failure.code }, 'call failed');
  }
  return failure;
}

function textOf(input: InvokedInput): string {
  if (input instanceof JsonText) return input.text;
  const members = Object.entries(input).filter(([, value]) => value !== undefined);
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${toJson(value)}`).join(',')}}`;
}
