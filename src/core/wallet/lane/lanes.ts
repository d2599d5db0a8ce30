// Lanes: per account and process at most one commit is in flight, and calls that arrive meanwhile share the next one. An idle lane commits at
// once, without a timer. One commit carries the batches of several accounts: of one shard on a distributed engine.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sqlState } from '../../../db/database.ts';
import { isLost } from '../../../db/ride-out.ts';
import { FairPlaces } from '../../../lib/fair-places.ts';
import { problem } from '../../../problems/problem.ts';
import { type Admission, admission } from '../../admission.ts';
import type { Logger } from '../../process/logger.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { CommitResult, LockedWallets } from './commit.ts';
import { traceCommit } from './commit-spans.ts';
import { commitSurely } from './commit-surely.ts';
import type { LaneItem, LaneOutcome } from './lane-item.ts';
import { LockedLanes } from './locked-lanes.ts';
import { ReadyAccounts, type Turn } from './ready-accounts.ts';
import { type Lane, leaderKeyOf, takeCompatible, type Waiting } from './waiting.ts';

export interface LanesOptions {
  readonly db: Database;
  readonly log: Logger;
  /** How long calls wait for a wallet that someone else holds; 8 s when absent. */
  readonly lockedForMs?: number;
  /** What this process may take; all when absent. */
  readonly bounds?: Admission;
  /** Of what waits; by the bounds when absent. */
  readonly bytesMax?: number;
  /** No traces when absent. */
  readonly tracing?: Tracing | null;
}

// Measured: batches beyond 128 calls gained nothing.
const ITEMS_PER_COMMIT = 128;
const ACCOUNTS_PER_COMMIT = 64;
const { lockedAccountCallsMax } = admission.all;
// Two processes that serve one account meet at its wallet all the time, for milliseconds.
const LOCKED_LONG_MS = 500;

const accountOf = (waiting: Waiting) => waiting.item.accountId;

export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #ready: ReadyAccounts;
  readonly #locked: LockedLanes;
  readonly #bytes: FairPlaces;
  readonly #itemsMax: number;
  #active = 0;
  #scheduled = false;
  #waitingItems = 0;

  constructor(options: LanesOptions) {
    this.#options = options;
    const { all } = options.bounds ?? admission;
    this.#locked = new LockedLanes(all, options.lockedForMs);
    this.#bytes = new FairPlaces(options.bytesMax ?? all.laneBytesMax);
    this.#itemsMax = all.laneItemsMax;
    this.#ready = new ReadyAccounts(options.db.placement, {
      accountsPerCommit: ACCOUNTS_PER_COMMIT,
      commitsOfGroup: options.db.placement === null ? all.commitsAtOnce : all.commitsOfShard,
      commitsOfNode: options.db.placement === null ? all.commitsAtOnce : all.distributedCommits,
    });
  }

  /** Waiting calls, for metrics and shutdown. */
  get depth(): number {
    return this.#waitingItems;
  }

  /**
   * Puts the call into the next commit of its account. Throws OVERLOADED when too much waits, CONCURRENCY_LIMITED when
   * most of it is the account's; SERVICE_UNAVAILABLE without a database and when someone else holds the wallet for long; APPROVAL_REQUIRED,
   * APPROVAL_DENIED.
   */
  submit(item: LaneItem): Promise<LaneOutcome> {
    const { approval, amount } = item;
    return approval === null ? this.#wait(item) : approval.require(amount).then(() => this.#wait(item));
  }

  #wait(item: LaneItem): Promise<LaneOutcome> {
    const { placement } = this.#options.db;
    if (placement === null || placement.shardOf(item.accountId) !== null) return this.#enter(item);
    return placement.learn(item.accountId).then(() => this.#enter(item));
  }

  #enter(item: LaneItem): Promise<LaneOutcome> {
    const { accountId, bytes } = item;
    if (this.#waitingItems >= this.#itemsMax) throw problem('OVERLOADED', { retryAfterMs: 1000 });
    if (isLockedFull(this.#lanes.get(accountId))) throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000 });
    if (!this.#bytes.take(accountId, bytes)) {
      throw problem(this.#bytes.isGreedy(accountId) ? 'CONCURRENCY_LIMITED' : 'OVERLOADED', { retryAfterMs: 1000 });
    }
    this.#waitingItems += 1;
    const span = this.#options.tracing?.current ?? null;
    const answered = new Promise<LaneOutcome>((resolve, reject) => {
      this.#enqueue({ item, sinceMs: performance.now(), followers: [], span, resolve, reject });
    });
    return answered.finally(() => {
      this.#waitingItems -= 1;
      this.#bytes.release(accountId, bytes);
    });
  }

  /** Resolves when nothing waits or runs any more. */
  async drain(): Promise<void> {
    while (this.#waitingItems > 0 || this.#active > 0) await sleep(5);
  }

  #enqueue(waiting: Waiting): void {
    const lane = this.#laneOf(waiting.item.accountId);
    const leaderKey = leaderKeyOf(waiting.item);
    if (leaderKey !== null) {
      const leader = lane.leaders.get(leaderKey);
      if (leader !== undefined) {
        leader.followers.push(waiting);
        return;
      }
      lane.leaders.set(leaderKey, waiting);
    }
    lane.waiting.push(waiting);
    if (!lane.busy) this.#ready.add(waiting.item.accountId);
    this.#schedule();
  }

  #laneOf(accountId: string): Lane {
    let lane = this.#lanes.get(accountId);
    if (lane === undefined) {
      lane = { waiting: [], leaders: new Map(), busy: false, lockedSinceMs: null };
      this.#lanes.set(accountId, lane);
    }
    return lane;
  }

  #schedule(): void {
    if (this.#scheduled || !this.#ready.isDue) return;
    this.#scheduled = true;
    // One turn of the event loop: the other requests that this read of the sockets brought join the batch.
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
      this.#schedule();
    });
  }

  #start(): void {
    const turn = this.#ready.take();
    if (turn === null) return;
    const batch = this.#take(turn);
    if (batch.length === 0) {
      turn.end();
      return;
    }
    this.#active += 1;
    void this.#run(turn, batch);
  }

  #take({ accounts, accountsMax, remove }: Turn): Waiting[] {
    const batch: Waiting[] = [];
    let taken = 0;
    for (const accountId of accounts) {
      if (batch.length >= ITEMS_PER_COMMIT || taken >= accountsMax) break;
      remove(accountId);
      const lane = this.#laneOf(accountId);
      // It came in twice: its shard became known, or another.
      if (lane.busy) continue;
      batch.push(...takeCompatible(lane.waiting, ITEMS_PER_COMMIT - batch.length));
      lane.busy = true;
      taken += 1;
    }
    return batch;
  }

  async #run(turn: Turn, batch: readonly Waiting[]): Promise<void> {
    const left = await this.#commit(batch, 'pass over');
    this.#active -= 1;
    turn.end();
    const locked = Map.groupBy(left, accountOf);
    for (const accountId of new Set(batch.map(accountOf))) {
      const calls = locked.get(accountId);
      if (calls === undefined) this.#release(accountId);
      else void this.#setAside(accountId, calls);
    }
    this.#start();
    this.#schedule();
  }

  /** Not counted as a commit in flight: one may wait long for its wallet, and the others need the turn. */
  async #setAside(accountId: string, calls: readonly Waiting[]): Promise<void> {
    this.#laneOf(accountId).lockedSinceMs ??= performance.now();
    const left = await this.#locked.retry(calls, (part, locked) => this.#commit(part, locked));
    if (left.length > 0) {
      this.#options.log.error({ accountId, calls: left.length }, 'lane commit failed: the wallet stays locked');
      for (const waiting of left) this.#fail(waiting, problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000 }));
    }
    this.#release(accountId, left.length > 0);
    this.#schedule();
  }

  #release(accountId: string, locked = false): void {
    const lane = this.#laneOf(accountId);
    lane.busy = false;
    if (!locked) lane.lockedSinceMs = null;
    if (lane.waiting.length > 0) this.#ready.add(accountId);
    else this.#forgetIdle(accountId, lane);
  }

  #forgetIdle(accountId: string, lane: Lane): void {
    if (!lane.busy && lane.waiting.length === 0 && lane.leaders.size === 0) this.#lanes.delete(accountId);
  }

  /** Commits and answers the calls, and never throws. Answers those that met a lock of someone else's: each account is to be tried alone. */
  async #commit(batch: readonly Waiting[], locked: LockedWallets): Promise<readonly Waiting[]> {
    const { tracing = null } = this.#options;
    const startedMs = performance.now();
    let result: CommitResult;
    try {
      result = await commitSurely(
        this.#options.db,
        batch.map((waiting) => waiting.item),
        locked,
      );
    } catch (error) {
      if (tracing !== null) traceCommit(tracing, batch, { startedMs, failure: error });
      return this.#split(batch, locked, error);
    }
    if (tracing !== null) {
      const committed = batch.filter((_, i) => result.outcomes[i] !== null);
      traceCommit(tracing, committed, { startedMs, failure: null });
    }
    // The next commit reads in the database while the answers of this one are written.
    setImmediate(() => this.#answerAll(batch, result));
    return batch.filter((_, i) => result.outcomes[i] === null);
  }

  #answerAll(batch: readonly Waiting[], result: CommitResult): void {
    batch.forEach((waiting, i) => {
      const outcome = result.outcomes[i] as LaneOutcome | null;
      if (outcome !== null) this.#answer(waiting, outcome);
    });
    try {
      result.afterCommit();
    } catch (error) {
      // The batch is committed: a hint that fails must not run it again.
      this.#options.log.error({ err: error }, 'local hint after a lane commit failed');
    }
  }

  /** Halves a batch that PostgreSQL refuses, so that one poisoned call cannot fail its neighbours. */
  async #split(batch: readonly Waiting[], locked: LockedWallets, error: unknown): Promise<readonly Waiting[]> {
    if (sqlState(error) === '55P03') return batch;
    if (isLost(error) || batch.length === 1) {
      this.#options.log.error({ err: error, calls: batch.length }, 'lane commit failed');
      const failure = isLost(error) ? problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, cause: error }) : error;
      for (const waiting of batch) this.#fail(waiting, failure);
      return [];
    }
    const half = batch.length >> 1;
    const left = await this.#commit(batch.slice(0, half), locked);
    return [...left, ...(await this.#commit(batch.slice(half), locked))];
  }

  #answer(waiting: Waiting, outcome: LaneOutcome): void {
    const followers = this.#releaseFollowers(waiting);
    waiting.resolve(outcome);
    // A refused leader leaves its followers to try for themselves.
    for (const follower of followers) this.#follow(follower, waiting, outcome);
  }

  #follow(follower: Waiting, leader: Waiting, outcome: LaneOutcome): void {
    const sameRequest = follower.item.idempotency?.fingerprint === leader.item.idempotency?.fingerprint;
    // What is answered at the end of its work is not answered yet: the follower finds the key bound.
    const isOver = outcome.kind === 'done' && leader.item.answersAtEnd !== true;
    const answered = isOver || outcome.kind === 'replayed';
    if (answered && sameRequest)
      follower.resolve({ kind: 'replayed', text: outcome.text, balanceNanos: outcome.balanceNanos });
    else if (answered)
      follower.resolve({ kind: 'refused', problem: problem('IDEMPOTENCY_KEY_REUSED', { param: 'idempotency_key' }) });
    else this.#enqueue(follower);
  }

  #fail(waiting: Waiting, error: unknown): void {
    const followers = this.#releaseFollowers(waiting);
    waiting.reject(error);
    for (const follower of followers) follower.reject(error);
  }

  #releaseFollowers(waiting: Waiting): Waiting[] {
    const leaderKey = leaderKeyOf(waiting.item);
    if (leaderKey !== null) {
      const lane = this.#laneOf(waiting.item.accountId);
      lane.leaders.delete(leaderKey);
      this.#forgetIdle(waiting.item.accountId, lane);
    }
    return waiting.followers.splice(0);
  }
}

/** Its wallet has been locked for long, and many of its calls wait already: further ones are told at once. */
function isLockedFull(lane: Lane | undefined): boolean {
  if (lane === undefined || lane.lockedSinceMs === null || lane.waiting.length < lockedAccountCallsMax) return false;
  return performance.now() - lane.lockedSinceMs > LOCKED_LONG_MS;
}
