// Push session: one process pushes one subscription while there are messages. It holds the subscription's lease, claims as many messages as it
// has free places, POSTs each, and acknowledges or returns it by the answer. Nothing is sent after an unsubscribe was answered: in this process
// `stop` ends the session at once. In others, every claim first checks the subscription. Its messages are sent within SEND_WITHIN_MS of that
// check or taken back; the answer to the unsubscribe waits that long.
import { Lease } from '../../../core/background/lease.ts';
import { hostOf, isLong, type LongCaller } from '../../../core/outbound/long-calls.ts';
import { signedHeaders } from '../../../core/outbound/signature.ts';
import { exactBackoffMs } from '../../../lib/backoff.ts';
import type { FairPlaces } from '../../../lib/fair-places.ts';
import { Waker } from '../../../lib/waker.ts';
import { Problem } from '../../../problems/problem.ts';
import type { ClaimedRow } from '../consume/claim.ts';
import { messageText } from '../queues/records.ts';
import { claimForPush } from './claim.ts';
import { finishPushed, type PushState, takeBack } from './finish.ts';
import { openTarget, type PushTarget } from './record.ts';
import {
  dropSubscriptionLease,
  holdsSubscription,
  type LeasedSubscription,
  type LeaseId,
  renewSubscriptionLease,
} from './subscription-store.ts';

/** How long another process may push on after its last renewal. */
export const LEASE_MS = 6_000;
export const SEND_WITHIN_MS = 1_000;
const IDLE_BACKOFF = { firstMs: 100, maxMs: 1_000, factor: 1.5 };

export interface SessionOptions {
  readonly state: PushState;
  readonly subscription: LeasedSubscription;
  /** Requests under way on this process, shared by all subscriptions whose answers come soon; others have places of their own. */
  readonly places: FairPlaces;
  /** performance.now() before the lease was asked for. */
  readonly leasedAtMs: number;
}

export class PushSession {
  readonly subscription: LeasedSubscription;
  readonly #state: PushState;
  readonly #places: FairPlaces;
  readonly #id: LeaseId;
  readonly #lease: Lease;
  readonly #target: PushTarget;
  /** Null: its answers come soon. */
  readonly #longCaller: LongCaller | null;
  readonly #lost = new AbortController();
  #loss: NodeJS.Timeout | undefined;
  #inFlight = 0;
  #over = false;
  #heard = false;
  readonly #waker = new Waker();

  constructor({ state, subscription, places, leasedAtMs }: SessionOptions) {
    this.subscription = subscription;
    this.#state = state;
    this.#places = places;
    this.#target = openTarget(state.core.secrets, subscription);
    const { account_id: accountId, subscription_id: subscriptionId, tier, url } = subscription;
    this.#longCaller = isLong(subscription.timeout_seconds) ? { accountId, tier, host: hostOf(url) } : null;
    const id = { accountId, subscriptionId, holder: state.core.processes.id };
    const { db } = state.core;
    this.#id = id;
    this.#lease = new Lease(
      {
        leaseMs: LEASE_MS,
        take: () => renewSubscriptionLease(db, id, LEASE_MS),
        drop: () => dropSubscriptionLease(db, id),
      },
      leasedAtMs + LEASE_MS,
    );
    this.#endWithLease();
  }

  /** Whether `wake` was called since it last looked for messages. */
  get hasHeard(): boolean {
    return this.#heard;
  }

  /** There may be messages. */
  wake(): void {
    this.#heard = true;
    this.#waker.wake();
  }

  /** From now on nothing is sent; requests under way end by themselves. */
  stop(): void {
    this.#over = true;
    this.#waker.wake();
  }

  /** Pushes until there is nothing left, the subscription is gone, or `stop`. `signal` aborts the requests under way. */
  async run(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#lost.signal]);
    try {
      await this.#push(ended);
    } finally {
      await this.#drain();
      clearTimeout(this.#loss);
      await this.#lease.drop();
    }
  }

  async #push(ended: AbortSignal): Promise<void> {
    let idleLooks = 0;
    while (!this.#over) {
      this.#waker.forget();
      this.#heard = false;
      const room = this.#reserve();
      const begun = room === 0 ? 0 : await this.#claim(room, ended);
      idleLooks = begun > 0 ? 1 : idleLooks + 1;
      if (begun > 0 && begun === room) continue;
      const pauseMs = exactBackoffMs(IDLE_BACKOFF, idleLooks);
      if (this.#inFlight === 0 && pauseMs === IDLE_BACKOFF.maxMs) return;
      await this.#waker.within(pauseMs);
      await this.#keepLease();
    }
  }

  async #drain(): Promise<void> {
    this.#over = true;
    while (this.#inFlight > 0) {
      this.#waker.forget();
      await this.#waker.within(IDLE_BACKOFF.maxMs);
      try {
        await this.#keepLease();
      } catch (error) {
        this.#state.core.log.warn({ err: error, ...this.#id }, 'the lease of a push subscription was not renewed');
      }
    }
  }

  #reserve(): number {
    const free = this.subscription.max_in_flight - this.#inFlight;
    if (free <= 0) return 0;
    if (this.#longCaller === null) return this.#places.reserve(this.#id.accountId, free);
    return this.#state.core.longCalls.reserve(this.#longCaller, free);
  }

  #release(places: number): void {
    if (this.#longCaller === null) this.#places.release(this.#id.accountId, places);
    else this.#state.core.longCalls.release(this.#longCaller, places);
  }

  /** Claims and begins to send up to `room` messages, for which places are reserved. Answers how many. */
  async #claim(room: number, ended: AbortSignal): Promise<number> {
    let begun = 0;
    try {
      const rows = await this.#claimConfirmed(room);
      for (const row of rows) void this.#deliver(row, ended);
      begun = rows.length;
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'QUEUE_NOT_FOUND')) throw error;
      this.#over = true;
    } finally {
      this.#release(room - begun);
    }
    return begun;
  }

  /** Messages that may be sent now. */
  async #claimConfirmed(room: number): Promise<ClaimedRow[]> {
    let sendUntil = await this.#confirm();
    if (this.#over) return [];
    const rows = await claimForPush(this.#state, this.subscription, room);
    if (rows.length === 0) return [];
    if (performance.now() >= sendUntil) sendUntil = await this.#confirm();
    if (!this.#over && performance.now() < Math.min(sendUntil, this.#lease.oursUntilMs)) return rows;
    await takeBack(this.#state, this.subscription, rows);
    return [];
  }

  /** Looks whether the subscription is still there and ours. Answers until when (performance.now()) its word counts. */
  async #confirm(): Promise<number> {
    const askedAtMs = performance.now();
    if (!(await holdsSubscription(this.#state.core.db, this.#id))) this.#over = true;
    return askedAtMs + SEND_WITHIN_MS;
  }

  async #deliver(row: ClaimedRow, ended: AbortSignal): Promise<void> {
    this.#inFlight += 1;
    try {
      const outcome = await this.#post(row, ended);
      await finishPushed(this.#state, this.subscription, row, outcome);
    } catch (error) {
      this.#state.core.log.error(
        { err: error, ...this.#id },
        'what became of a pushed message was not written; it is delivered again when its lease ends',
      );
    } finally {
      this.#inFlight -= 1;
      this.#release(1);
      this.#waker.wake();
    }
  }

  #post(row: ClaimedRow, signal: AbortSignal) {
    const { core, ids } = this.#state;
    const { accountId } = this.#id;
    const body = messageText(ids, row.group_id === '' ? { ...row, group_id: null } : row, {
      accountId,
      queue: this.subscription.queue,
      status: 'in_flight',
      availableMs: row.available_at,
      leaseEndMs: row.lease_end,
    });
    const id = ids.messageId(accountId, row.seq);
    const signed = signedHeaders({ id, timestampMs: Date.now(), body }, [this.#target.secret]);
    const headers = { ...this.#target.headers, ...signed };
    const { url, timeout_seconds: seconds } = this.subscription;
    const post = () => core.outbound.post({ url, headers, body, signal, timeoutMs: seconds * 1_000 });
    return this.#longCaller === null ? post() : core.longCalls.during(accountId, body.length, post);
  }

  async #keepLease(): Promise<void> {
    const { isOurs } = this.#lease;
    if (await this.#lease.take()) {
      this.#endWithLease();
      return;
    }
    this.#over = true;
    // Not over by its time: then the subscription is gone, nobody takes over, and requests under way may end by themselves.
    if (isOurs) clearTimeout(this.#loss);
  }

  /** When the lease is over another process may begin: requests still under way here are ended, so that none are too many. */
  #endWithLease(): void {
    clearTimeout(this.#loss);
    this.#loss = setTimeout(() => {
      this.#over = true;
      this.#lost.abort();
      this.#waker.wake();
    }, this.#lease.oursUntilMs - performance.now()).unref();
  }
}
