// Live tails of stored records as Server-Sent Events. Each tail reads new records once a second, until its client disconnects or its principal
// loses access. The number of tails is limited across all processes behind one port.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ended, Principal } from '../core/callers/principal.ts';
import { scopesAllow } from '../core/callers/scopes.ts';
import { commentText } from '../lib/event-stream.ts';
import { problem } from '../problems/problem.ts';
import type { RawAnswer, RawRequest } from './raw-route.ts';
import type { CallContext, Services } from './services.ts';

const READ_EVERY_MS = 1_000;
/** A key that was revoked, or a person who was removed, ends a tail so soon. */
const CHECK_EVERY_MS = 2_000;
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
  /** Settles what is new from now on, before the client is told that it follows. */
  begin(): Promise<void>;
  /** The events, as text, that are new since it began, or since the last read. */
  read(): AsyncIterable<string>;
}

/** Throws CONCURRENCY_LIMITED, OVERLOADED. */
export function tailAnswer(request: RawRequest, ctx: CallContext, { noun, begin, read }: Tail): Promise<RawAnswer> {
  const { account, all } = ctx.core.bounds;
  return streamAnswer(request, ctx, {
    kind: 'tails',
    noun,
    accountMax: account.tailsMax,
    allMax: all.tailsMax,
    checkEveryMs: CHECK_EVERY_MS,
    begin,
    async *next(signal) {
      yield* read();
      await sleep(READ_EVERY_MS, undefined, { signal }).catch(() => undefined);
    },
  });
}

export interface Stream extends StreamPlaces {
  /** How often it is looked whether the principal still may follow. */
  readonly checkEveryMs: number;
  /** When it ends at the latest, epoch milliseconds. */
  readonly endMs?: number;
  /** Done once it has its place, before the client is answered. */
  begin?(): Promise<void>;
  /** The events, as text, that come next: none after `checkEveryMs` at the latest, and once the signal is aborted. */
  next(signal: AbortSignal): AsyncIterable<string>;
}

type Following = Pick<CallContext, 'core' | 'accountId' | 'principal' | 'capability'>;

/** Events until the client leaves, or the principal may follow no more. Throws CONCURRENCY_LIMITED, OVERLOADED, and what `begin` throws. */
export async function streamAnswer({ signal }: RawRequest, by: Following, stream: Stream): Promise<RawAnswer> {
  const leave = await enterStreams(by.core, by.accountId, stream);
  try {
    await stream.begin?.();
  } catch (error) {
    leave();
    throw error;
  }
  // A client that went away before the first event leaves too.
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return { status: 200, headers: streamHeaders, body: follow(by, stream, signal, leave), beat: streamBeat };
}

/** How many streams may be open at once. */
interface StreamPlaces {
  /** Streams of one kind are bounded together. */
  readonly kind: string;
  readonly noun: string;
  /** Of one noun. */
  readonly accountMax: number;
  /** Of the kind, of all accounts. */
  readonly allMax: number;
}

/** Takes a place. Answers what gives it back, once. Throws CONCURRENCY_LIMITED, OVERLOADED. */
async function enterStreams(
  { underWay }: Pick<Services, 'underWay'>,
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
  { principal, capability }: Following,
  { noun, next, checkEveryMs, endMs = Number.POSITIVE_INFINITY }: Stream,
  signal: AbortSignal,
  leave: () => void,
): AsyncGenerator<string> {
  try {
    yield commentText(noun);
    for (let checkedMs = performance.now(); !signal.aborted; ) {
      yield* next(signal);
      if (performance.now() - checkedMs < checkEveryMs) continue;
      checkedMs = performance.now();
      if (endMs <= Date.now() || !mayFollow(await principal.kind.again(principal), capability)) return;
    }
  } finally {
    leave();
  }
}

/** A key that was narrowed, or an account that was suspended, follows no longer either. */
export function mayFollow(now: Principal | Ended, capability: string): boolean {
  return typeof now !== 'string' && !now.suspended && scopesAllow(now.scopes, capability, 'read');
}
