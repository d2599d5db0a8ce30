// Streams that follow what an account stores, as Server-Sent Events: each reads what is new once a second, as long as its client and its
// principal may. How many there are is counted for all processes behind one port.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext, Core } from '../core/context.ts';
import type { Ended, Principal } from '../core/principal.ts';
import { scopesAllow } from '../core/scopes.ts';
import { commentText } from '../lib/event-stream.ts';
import { problem } from '../problems/problem.ts';
import type { RawAnswer, RawRequest } from './raw-route.ts';

const READ_EVERY_MS = 1_000;
/** A key that was revoked, or a person who was removed, ends the stream after so many reads. */
const READS_PER_CHECK = 2;
/** What every stream of Server-Sent Events is answered with. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};
export const streamBeat = { everyMs: 15_000, text: commentText('still here') };
const RETRY_AFTER_MS = 10_000;

export interface Tail {
  /** What is followed, in the plural: `log records`. */
  readonly noun: string;
  /** The events, as text, that are new since the last read. The first read may answer a greeting alone. */
  read(): AsyncIterable<string>;
}

/** Throws CONCURRENCY_LIMITED, OVERLOADED. */
export async function tailAnswer({ signal }: RawRequest, ctx: CallContext, tail: Tail): Promise<RawAnswer> {
  const { account, all } = ctx.core.bounds;
  const leave = await enterStreams(ctx.core, ctx.accountId, {
    ...{ kind: 'tails', noun: tail.noun, accountMax: account.tailsMax, allMax: all.tailsMax },
  });
  // A client that went away before the first read leaves too.
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return {
    status: 200,
    headers: streamHeaders,
    body: follow(ctx, tail, signal, leave),
    beat: streamBeat,
  };
}

/** How many streams may be open at once. */
export interface StreamPlaces {
  /** Streams of one kind are bounded together. */
  readonly kind: string;
  readonly noun: string;
  /** Of one noun. */
  readonly accountMax: number;
  /** Of the kind, of all accounts. */
  readonly allMax: number;
}

/** Takes a place. Answers what gives it back, once. Throws CONCURRENCY_LIMITED, OVERLOADED. */
export async function enterStreams(
  { underWay }: Pick<Core, 'underWay'>,
  accountId: string,
  { kind, noun, accountMax, allMax }: StreamPlaces,
): Promise<() => void> {
  const own = `${kind} of ${accountId}: ${noun}`;
  if (!(await underWay.begin(own, accountMax))) {
    const message = `The account has ${accountMax} streams of ${noun} open: close one first.`;
    throw problem('CONCURRENCY_LIMITED', { message, retryAfterMs: RETRY_AFTER_MS });
  }
  if (!(await underWay.begin(kind, allMax))) {
    underWay.end(own);
    throw problem('OVERLOADED', { retryAfterMs: RETRY_AFTER_MS });
  }
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    underWay.end(own);
    underWay.end(kind);
  };
}

async function* follow(
  { principal, capability }: CallContext,
  { read }: Tail,
  signal: AbortSignal,
  leave: () => void,
): AsyncGenerator<string> {
  try {
    for (let reads = 1; !signal.aborted; reads += 1) {
      yield* read();
      if (reads % READS_PER_CHECK === 0 && !mayFollow(await principal.kind.again(principal), capability)) return;
      await sleep(READ_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    leave();
  }
}

/** A key that was narrowed, or an account that was suspended, follows no longer either. */
export function mayFollow(now: Principal | Ended, capability: string): boolean {
  return typeof now !== 'string' && !now.suspended && scopesAllow(now.scopes, capability, 'read');
}
