// Lanes: per account and process at most one commit is in flight; what arrives meanwhile waits and goes together in the next one.
// An idle lane commits at once, without a timer. One commit carries the batches of several accounts on plain PostgreSQL.
import { setTimeout as sleep } from 'node:timers/promises';
import { textArray } from '../../db/arrays.ts';
import { CommitUnknown, type Database, sqlState } from '../../db/database.ts';
import { problem } from '../../problems/problem.ts';
import { admission } from '../admission.ts';
import type { Logger } from '../logger.ts';
import { type CommitProbe, type CommitResult, commitLanes } from './commit.ts';
import type { LaneItem, Settlement } from './lane-item.ts';
import { isLost, mayRunAgain, RETRY_FOR_MS, RETRY_PAUSE_MS } from './ride-out.ts';
import { findLedgerEntry, lockWallets } from './statements.ts';
import { type Lane, leaderKeyOf, takeCompatible, type Waiting } from './waiting.ts';

export interface LanesOptions {
  readonly db: Database;
  readonly log: Logger;
  /** 1 on a distributed engine: a transaction there is for one account. */
  readonly accountsPerCommit?: number;
  readonly concurrentCommits?: number;
}

// Measured: batches beyond 128 calls gained nothing.
const ITEMS_PER_COMMIT = 128;
const ACCOUNTS_PER_COMMIT = 64;
// A second commit at a time lets other accounts proceed while one waits for the disk; more only made batches smaller.
const CONCURRENT_COMMITS = 2;
const { laneItemsMax, laneBytesMax } = admission.all;

const accountOf = (waiting: Waiting) => waiting.item.accountId;
const ofSeveralAccounts = (accountIds: readonly string[]) => accountIds.some((id) => id !== accountIds[0]);

export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Accounts with waiting calls and no commit in flight, in order of arrival: round robin. */
  readonly #ready = new Set<string>();
  #active = 0;
  #scheduled = false;
  #waitingItems = 0;
  #waitingBytes = 0;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** Waiting calls, for metrics and shutdown. */
  get depth(): number {
    return this.#waitingItems;
  }

  /** Settles the call in the next commit of its account. Rejects with OVERLOADED when too much waits, SERVICE_UNAVAILABLE without a database. */
  submit(item: LaneItem): Promise<Settlement> {
    if (this.#waitingItems >= laneItemsMax || this.#waitingBytes + item.bytes > laneBytesMax) {
      throw problem('OVERLOADED', { retryAfterMs: 1000 });
    }
    this.#waitingItems += 1;
    this.#waitingBytes += item.bytes;
    const settled = new Promise<Settlement>((resolve, reject) => {
      this.#enqueue({ item, sinceMs: performance.now(), followers: [], resolve, reject });
    });
    return settled.finally(() => {
      this.#waitingItems -= 1;
      this.#waitingBytes -= item.bytes;
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
      lane = { waiting: [], leaders: new Map(), busy: false };
      this.#lanes.set(accountId, lane);
    }
    return lane;
  }

  #schedule(): void {
    if (this.#scheduled || !this.#mayStart()) return;
    this.#scheduled = true;
    // One turn of the event loop: the other requests that this read of the sockets brought join the batch.
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
      this.#schedule();
    });
  }

  #mayStart(): boolean {
    return this.#ready.size > 0 && this.#active < (this.#options.concurrentCommits ?? CONCURRENT_COMMITS);
  }

  #start(): void {
    if (!this.#mayStart()) return;
    const batch = this.#take();
    if (batch.length === 0) return;
    this.#active += 1;
    void this.#run(batch);
  }

  #take(): Waiting[] {
    const batch: Waiting[] = [];
    let accounts = 0;
    for (const accountId of this.#ready) {
      if (batch.length >= ITEMS_PER_COMMIT || accounts >= (this.#options.accountsPerCommit ?? ACCOUNTS_PER_COMMIT))
        break;
      const lane = this.#laneOf(accountId);
      const taken = takeCompatible(lane.waiting, ITEMS_PER_COMMIT - batch.length);
      batch.push(...taken);
      lane.busy = true;
      accounts += 1;
      this.#ready.delete(accountId);
    }
    return batch;
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    let left: readonly Waiting[] = [];
    try {
      const result = await this.#commitOrWait(batch.map((waiting) => waiting.item));
      // The next commit reads in the database while the answers of this one are written.
      setImmediate(() => this.#answer(batch, result));
    } catch (error) {
      left = await this.#splitSafely(batch, error);
    }
    this.#active -= 1;
    this.#runAlone(left);
    const stillBusy = new Set(left.map(accountOf));
    for (const accountId of new Set(batch.map(accountOf))) if (!stillBusy.has(accountId)) this.#release(accountId);
    this.#start();
    this.#schedule();
  }

  /** Nothing in it should throw; if it does, the calls must not hang. */
  async #splitSafely(batch: readonly Waiting[], error: unknown): Promise<readonly Waiting[]> {
    try {
      return await this.#split(batch, error);
    } catch (unexpected) {
      for (const waiting of batch) this.#fail(waiting, unexpected);
      return [];
    }
  }

  /** Each account by itself. Not counted as a commit in flight: one may wait long for its wallet, and the others need the turn. */
  #runAlone(left: readonly Waiting[]): void {
    for (const [accountId, part] of Map.groupBy(left, accountOf)) {
      void this.#commit(part)
        .catch((error: unknown) => {
          for (const waiting of part) this.#fail(waiting, error);
        })
        .finally(() => {
          this.#release(accountId);
          this.#schedule();
        });
    }
  }

  #release(accountId: string): void {
    const lane = this.#laneOf(accountId);
    lane.busy = false;
    if (lane.waiting.length > 0) this.#ready.add(accountId);
    else this.#forgetIdle(accountId, lane);
  }

  #forgetIdle(accountId: string, lane: Lane): void {
    if (!lane.busy && lane.waiting.length === 0 && lane.leaders.size === 0) this.#lanes.delete(accountId);
  }

  /** Settles the calls. Answers those of several accounts that met a locked wallet: each account is to be tried alone. */
  async #commit(batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    let result: CommitResult;
    try {
      result = await this.#commitOrWait(batch.map((waiting) => waiting.item));
    } catch (error) {
      return this.#split(batch, error);
    }
    this.#answer(batch, result);
    return [];
  }

  #answer(batch: readonly Waiting[], result: CommitResult): void {
    batch.forEach((waiting, i) => {
      this.#settle(waiting, result.settlements[i] as Settlement);
    });
    try {
      result.afterCommit();
    } catch (error) {
      // The batch is committed: a hint that fails must not run it again.
      this.#options.log.error({ err: error }, 'local hint after a lane commit failed');
    }
  }

  /** Halves a batch that PostgreSQL refuses, so that one poisoned call cannot fail its neighbours. */
  async #split(batch: readonly Waiting[], error: unknown): Promise<readonly Waiting[]> {
    const locked = sqlState(error) === '55P03';
    if (locked && ofSeveralAccounts(batch.map(accountOf))) return batch;
    const unavailable = locked || isLost(error);
    if (unavailable || batch.length === 1) {
      this.#options.log.error({ err: error, calls: batch.length }, 'lane commit failed');
      const failure = unavailable ? problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, cause: error }) : error;
      for (const waiting of batch) this.#fail(waiting, failure);
      return [];
    }
    const half = batch.length >> 1;
    return [...(await this.#commit(batch.slice(0, half))), ...(await this.#commit(batch.slice(half)))];
  }

  /** Rides out a restart of the database: an unknown COMMIT is looked up, a lost transaction is run again. */
  async #commitOrWait(items: readonly LaneItem[]): Promise<CommitResult> {
    const giveUpAt = performance.now() + RETRY_FOR_MS;
    const shared = ofSeveralAccounts(items.map((item) => item.accountId));
    for (;;) {
      const sent: { probe: CommitProbe; result: CommitResult }[] = [];
      try {
        return await commitLanes(this.#options.db, items, (probe, result) => sent.push({ probe, result }));
      } catch (error) {
        if (!mayRunAgain(error) || performance.now() > giveUpAt) throw error;
        // Only the account whose wallet is locked has to wait for it.
        if (shared && sqlState(error) === '55P03') throw error;
        const last = sent.at(-1);
        if (last !== undefined && (await this.#wasCommitted(last.probe, giveUpAt))) return last.result;
        await sleep(RETRY_PAUSE_MS);
      }
    }
  }

  async #wasCommitted(probe: CommitProbe, giveUpAt: number): Promise<boolean> {
    for (;;) {
      try {
        // The lock waits for a transaction whose client is gone but which still runs.
        return await this.#options.db.transaction(async (tx) => {
          await tx.query(lockWallets, [textArray([probe.accountId])]);
          return (await tx.query(findLedgerEntry, [probe.accountId, probe.entrySeq, probe.batchId])).count === 1;
        });
      } catch (error) {
        if (performance.now() > giveUpAt) throw new CommitUnknown(error);
        await sleep(RETRY_PAUSE_MS);
      }
    }
  }

  #settle(waiting: Waiting, settlement: Settlement): void {
    const followers = this.#releaseFollowers(waiting);
    waiting.resolve(settlement);
    // A refused leader leaves its followers to try for themselves.
    for (const follower of followers) this.#follow(follower, waiting, settlement);
  }

  #follow(follower: Waiting, leader: Waiting, settlement: Settlement): void {
    const sameRequest = follower.item.idempotency?.fingerprint === leader.item.idempotency?.fingerprint;
    const answered = settlement.kind === 'done' || settlement.kind === 'replayed';
    if (answered && sameRequest)
      follower.resolve({ kind: 'replayed', text: settlement.text, balanceNanos: settlement.balanceNanos });
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
