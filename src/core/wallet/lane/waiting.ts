// Queue entries of a lane: calls that wait for a commit of their account.
import type { Span } from '../../tracing/tracing.ts';
import type { LaneItem, LaneOutcome } from './lane-item.ts';

export interface Waiting {
  readonly item: LaneItem;
  readonly sinceMs: number;
  readonly followers: Waiting[];
  /** Of what submitted it; null: there is none. */
  readonly span: Span | null;
  resolve(outcome: LaneOutcome): void;
  reject(error: unknown): void;
}

export interface Lane {
  readonly waiting: Waiting[];
  /** The first call of each idempotency key, until it is answered: later ones with the key follow it. */
  readonly leaders: Map<string, Waiting>;
  busy: boolean;
  /** Since when its wallet, or a row of its effects, is held by someone else; null when it is not. */
  lockedSinceMs: number | null;
}

/** Calls with the same key are one call. */
export function leaderKeyOf(item: LaneItem): string | null {
  return item.idempotency === null ? null : item.idempotency.hash;
}

/** Takes up to `max` calls from the front; calls that exclude one another stay for the next commit, in their order. */
export function takeCompatible(waiting: Waiting[], max: number): Waiting[] {
  const seen = new Set<string>();
  const taken: Waiting[] = [];
  const left: Waiting[] = [];
  while (waiting.length > 0 && taken.length < max) {
    const next = waiting.shift() as Waiting;
    const keys = next.item.effect.exclusiveKeys(next.item);
    if (keys.some((key) => seen.has(key))) left.push(next);
    else taken.push(next);
    for (const key of keys) seen.add(key);
  }
  waiting.unshift(...left);
  return taken;
}
