// Push dispatcher of one process: finds subscriptions with messages to deliver, takes their leases, and runs a session for each. Messages
// published here wake the subscriptions of their queue; polling finds all others. An idle subscription holds nothing and costs its share of one
// statement a second.

import type { JobLoop } from '../../../core/background/job-loop.ts';
import { turnLoop } from '../../../core/background/turn-loop.ts';
import { isLong } from '../../../core/outbound/long-calls.ts';
import { FairPlaces } from '../../../lib/fair-places.ts';
import { queueKey } from '../state.ts';
import type { PushState } from './finish.ts';
import { LEASE_MS, PushSession } from './session.ts';
import { leaseSubscription } from './subscription-store.ts';
import { findDueSubscriptions, findSubscriptions, type SubscriptionRef } from './work-store.ts';

/** Given in transactions that add or remove subscriptions. */
export const SUBSCRIPTIONS_CHANGED = 'queue.subscriptions';
/** Requests under way on this process; a message of 256 KiB each at most. */
const REQUESTS_MAX = 512;
const SESSIONS_MAX = 512;
const LOOK_MS = 1_000;
const ROSTER_MS = 5_000;
// However many subscriptions there are, looking takes a twentieth of the time.
const REST_FACTOR = 20;
const FOUND_MAX = 200;
const LEASES_AT_ONCE = 4;

interface SubscriptionTurn {
  readonly accountId: string;
  readonly ref: SubscriptionRef;
}

export class PushDispatcher {
  /** Of subscriptions whose answers come soon, and of those whose answers may take minutes: these never hold places of the others. */
  readonly loops: readonly JobLoop[];
  readonly #state: PushState;
  readonly #requests = new FairPlaces(REQUESTS_MAX);
  readonly #sessions = new Map<string, PushSession>();
  /** Subscriptions by queue, as last read; only a hint. */
  #roster = new Map<string, SubscriptionRef[]>();
  readonly #heard = new Map<string, SubscriptionRef>();
  #lookAtMs = 0;
  #rosterAtMs = 0;
  #closed = false;

  constructor(state: PushState) {
    this.#state = state;
    const { bounds } = state.core;
    this.loops = [
      this.#loop('queue.push', SESSIONS_MAX, false),
      this.#loop('queue.push_long', bounds.all.longCalls, true),
    ];
    state.waiters.watch((key) => this.#hear(key));
    state.core.db.onHint(SUBSCRIPTIONS_CHANGED, () => this.#lookAgain());
  }

  #loop(name: string, places: number, isForLong: boolean): JobLoop {
    return turnLoop<SubscriptionTurn, PushSession>({
      name,
      log: this.#state.core.log,
      places,
      placesPerTurn: 1,
      claimsAtOnce: LEASES_AT_ONCE,
      intervalMs: LOOK_MS,
      find: () => this.#find(isForLong),
      claim: (turn) => this.#lease(turn),
      run: (session, signal) => this.#run(session, signal),
    });
  }

  /** Nothing more is sent for the subscription by this process. */
  end(subscriptionId: string): void {
    this.#sessions.get(subscriptionId)?.stop();
  }

  /** Nothing more is sent at all; requests under way end by themselves. */
  close(): void {
    this.#closed = true;
    for (const session of this.#sessions.values()) session.stop();
  }

  #hear(key: string): void {
    for (const ref of this.#roster.get(key) ?? []) {
      const session = this.#sessions.get(ref.subscription_id);
      if (session === undefined) this.#heard.set(ref.subscription_id, ref);
      else session.wake();
    }
    if (this.#heard.size > 0) this.#wake();
  }

  #lookAgain(): void {
    this.#lookAtMs = 0;
    this.#rosterAtMs = 0;
    this.#wake();
  }

  #wake(): void {
    for (const loop of this.loops) loop.wake();
  }

  async #find(isForLong: boolean): Promise<SubscriptionTurn[]> {
    if (this.#closed) return [];
    await this.#readRoster();
    const wanted = this.#takeHeard(isForLong);
    // Who was heard of goes first; the search follows in the next turn, unless it is long overdue.
    const isLate = performance.now() > this.#lookAtMs + LOOK_MS;
    if (wanted.length === 0 || isLate) {
      for (const ref of await this.#findDue()) this.#heard.set(ref.subscription_id, ref);
      wanted.push(...this.#takeHeard(isForLong));
      // What is left is for the other loop.
      if (this.#heard.size > 0) this.loops[isForLong ? 0 : 1]?.wake();
    }
    return wanted
      .filter((ref) => !this.#sessions.has(ref.subscription_id))
      .map((ref) => ({ accountId: ref.account_id, ref }));
  }

  #takeHeard(isForLong: boolean): SubscriptionRef[] {
    const taken = [...this.#heard.values()].filter((ref) => isLong(ref.timeout_seconds) === isForLong);
    for (const ref of taken) this.#heard.delete(ref.subscription_id);
    return taken;
  }

  /** None when another process pushes the subscription, or it is gone. */
  async #lease({ accountId, ref }: SubscriptionTurn): Promise<PushSession[]> {
    const { core } = this.#state;
    const id = { accountId, subscriptionId: ref.subscription_id, holder: core.processes.id };
    const leasedAtMs = performance.now();
    const subscription = await leaseSubscription(core.db, id, LEASE_MS);
    if (subscription === null) return [];
    const session = new PushSession({ state: this.#state, subscription, places: this.#requests, leasedAtMs });
    this.#sessions.set(ref.subscription_id, session);
    if (this.#closed) session.stop();
    return [session];
  }

  async #run(session: PushSession, signal: AbortSignal): Promise<void> {
    const { account_id, subscription_id, queue, timeout_seconds } = session.subscription;
    try {
      await session.run(signal);
    } finally {
      this.#sessions.delete(subscription_id);
      // What was published while it ended.
      if (session.hasHeard && !this.#closed) {
        this.#heard.set(subscription_id, { account_id, subscription_id, queue, timeout_seconds });
        this.#wake();
      }
    }
  }

  async #readRoster(): Promise<void> {
    const begunMs = performance.now();
    if (begunMs < this.#rosterAtMs) return;
    this.#rosterAtMs = Number.POSITIVE_INFINITY;
    const roster = new Map<string, SubscriptionRef[]>();
    try {
      for (const ref of await findSubscriptions(this.#state.core.db)) {
        const key = queueKey(ref.account_id, ref.queue);
        const known = roster.get(key);
        if (known === undefined) roster.set(key, [ref]);
        else known.push(ref);
      }
      this.#roster = roster;
      this.#state.waiters.watches(roster.size > 0);
    } finally {
      this.#rosterAtMs = Math.min(this.#rosterAtMs, nextAt(begunMs, ROSTER_MS));
    }
  }

  async #findDue(): Promise<SubscriptionRef[]> {
    const begunMs = performance.now();
    if (begunMs < this.#lookAtMs) return [];
    this.#lookAtMs = Number.POSITIVE_INFINITY;
    try {
      return await findDueSubscriptions(this.#state.core.db.hot, FOUND_MAX);
    } finally {
      this.#lookAtMs = Math.min(this.#lookAtMs, nextAt(begunMs, LOOK_MS));
    }
  }
}

/** When to look again, for a look that began at `begunMs` and ends now. */
function nextAt(begunMs: number, intervalMs: number): number {
  const nowMs = performance.now();
  // A little less than the interval of the loop, so that its next turn is not too early.
  return nowMs + Math.max(intervalMs * 0.9, (nowMs - begunMs) * REST_FACTOR);
}
