// A kind of background work: a table whose rows say when they are due, a function that claims due rows, and one that runs a row. It gets fair
// turns among accounts, takeover after a crash, retries with backoff, drain at shutdown, and metrics. Contract of the table: a claim is a lease
// in the row and counts an attempt, whose number fences every later change by that attempt. A row whose lease has expired is due again. Code
// that makes a row due calls openTurn(…, work.name, …) in the same transaction.
import { type Database, sqlState, type Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { type Backoff, backoffMs } from '../../lib/backoff.ts';
import { clockNow } from '../database-clock.ts';
import type { Logger } from '../process/logger.ts';
import type { Metric } from '../process/metric.ts';
import type { JobLoop } from './job-loop.ts';
import { Suspects } from './suspects.ts';
import { turnLoop } from './turn-loop.ts';
import { type AccountTurn, dueTurns, endTurn, hintOf, openTurn, putTurnOff } from './turns.ts';

export interface DueWork<Job extends LeasedJob> {
  /** In the form `module.work`: as core.turn and the metrics name it. */
  readonly name: string;
  /** Jobs at once on this process. */
  readonly places: number;
  /** Jobs that one claim may take: the account's other transactions wait for its locks meanwhile. 16 when absent. */
  readonly perClaim?: number;
  /** How often it looks by itself: beside the search of the process (upkeep/due-search.ts) rarely; 5,000 when absent. */
  readonly intervalMs?: number;
  /** Pauses after failures; from 5 s to 15 min when absent. */
  readonly backoff?: Backoff;
  /** Leases due jobs of the account, except those under way here, whose lease may have ended while they were slow. */
  claim(tx: Transaction, accountId: string, wanted: Wanted): Promise<Claimed<Job>>;
  /**
   * Runs the job and writes how it ended, fenced by its attempt. When it throws, the job is put back; `signal` aborts at the stop, `lost`
   * when a renewal says that the job is not ours any more: what it throws then is nothing.
   */
  run(job: Job, signal: AbortSignal, lost: AbortSignal): Promise<void>;
  /** For what may outlast its lease. False: another attempt has the job, or it is over. Absent: the lease ends by itself. */
  readonly renewal?: { readonly everyMs: number; renew(job: Job): Promise<boolean> };
  /** Makes the job due again at `dueMs`, unless another attempt has it or it is over. Absent: it is due when its lease ends. */
  putBack?(tx: Transaction, job: Job, dueMs: number): Promise<void>;
}

export interface LeasedJob {
  readonly accountId: string;
  readonly id: string;
  /** Number of the attempt that the claim began; the first is 1. */
  readonly attempt: number;
}

export interface Wanted {
  /** How many at most. */
  readonly limit: number;
  /** Ids of the account's jobs that run on this process. */
  readonly underWay: readonly string[];
  /**
   * False: no job whose process died while it ran (its lease ended, now or before, without an outcome). True: one of those, and no other.
   * Work that does not know its suspects takes no notice.
   */
  readonly suspects: boolean;
}

export interface Claimed<Job> {
  readonly jobs: readonly Job[];
  /** When the next of the account's rows is due, leases included; null: none ever. Read after the claim. */
  readonly nextMs: number | null;
  /** Suspects are due, and nothing else of the account: they are to run alone. Only read when `jobs` is empty. */
  readonly hasSuspects?: boolean;
}

const PER_CLAIM = 16;
// Most of the pool is left to everything else.
const CLAIMS_AT_ONCE = 3;
const INTERVAL_MS = 5_000;
const BACKOFF: Backoff = { firstMs: 5_000, maxMs: 15 * 60_000 };

const LOCK_NOT_AVAILABLE = '55P03';

/** From here to its end the transaction waits only so long for a lock, on the workers of a distributed engine too. */
const waitBriefly = statement('due_wait_briefly', `SET LOCAL lock_timeout = '100ms'`);

/** The services that background work needs. */
export interface WorkServices {
  readonly db: Database;
  readonly log: Logger;
}

/** The loop of one process. */
export function dueWork<Job extends LeasedJob>(core: WorkServices, work: DueWork<Job>): JobLoop {
  const kind = new Kind(core, work);
  const loop = turnLoop<AccountTurn, Job>({
    name: work.name,
    log: core.log,
    places: work.places,
    placesPerTurn: work.perClaim ?? PER_CLAIM,
    claimsAtOnce: CLAIMS_AT_ONCE,
    intervalMs: work.intervalMs ?? INTERVAL_MS,
    find: (limit) => kind.find(limit),
    claim: (turn, places) => kind.claim(turn, places),
    putOff: (turn) => putTurnOff(core.db, turn.accountId, work.name),
    run: (job, signal) => kind.run(job, signal),
    metrics: () => kind.metrics(),
    onStop: async () => deafen(),
  });
  const deafen = core.db.onHint(hintOf(work.name), () => loop.wake());
  return loop;
}

class Kind<Job extends LeasedJob> {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #work: DueWork<Job>;
  /** Ids of the jobs under way, by account. */
  readonly #underWay = new Map<string, Set<string>>();
  readonly #suspects = new Suspects<AccountTurn, Job>();
  #lateSeconds = 0;
  #putBack = 0;

  constructor({ db, log }: WorkServices, work: DueWork<Job>) {
    this.#db = db;
    this.#log = log;
    this.#work = work;
  }

  async find(limit: number): Promise<AccountTurn[]> {
    const next = this.#suspects.next();
    if (next === 'nothing') return [];
    if (next !== 'all') return [next];
    const turns = await dueTurns(this.#db, this.#work.name, limit);
    this.#lateSeconds = turns[0]?.lateSeconds ?? 0;
    return turns;
  }

  async claim(turn: AccountTurn, limit: number): Promise<readonly Job[]> {
    try {
      const suspects = this.#suspects.isFor(turn);
      const { jobs, hasSuspects } = await this.#db.transaction(
        (tx) => this.#claimIn(tx, turn, limit, suspects),
        turn.accountId,
      );
      if (suspects) for (const job of jobs) this.#suspects.noteClaim(job);
      else if (jobs.length === 0 && hasSuspects) this.#suspects.await(turn);
      return jobs;
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      // Somebody holds what the account's work needs. The others must not wait for that: the next look finds it again.
      return [];
    }
  }

  async #claimIn(tx: Transaction, turn: AccountTurn, room: number, suspects: boolean): Promise<Claimed<Job>> {
    const underWay = [...(this.#underWay.get(turn.accountId) ?? [])];
    const limit = suspects ? 1 : room;
    const [, nowMs, claimed] = await Promise.all([
      tx.query(waitBriefly, []),
      clockNow(tx),
      this.#work.claim(tx, turn.accountId, { limit, underWay, suspects }),
    ]);
    await endTurn(tx, turn, this.#work.name, claimed.nextMs, nowMs);
    return claimed;
  }

  async run(job: Job, signal: AbortSignal): Promise<void> {
    const ids = this.#underWay.get(job.accountId) ?? new Set();
    this.#underWay.set(job.accountId, ids.add(job.id));
    const ended = this.#suspects.begin(job);
    const lost = new AbortController();
    const renewing = this.#renewing(job, lost);
    try {
      await this.#work.run(job, signal, lost.signal);
    } catch (error) {
      if (lost.signal.aborted) return;
      try {
        await this.#returnJob(job, signal.aborted ? 0 : backoffMs(this.#work.backoff ?? BACKOFF, job.attempt));
      } catch (second) {
        // What the job failed with says more than that it could not be put back.
        throw new AggregateError([error, second], 'A job failed, and could not be put back.');
      }
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(renewing);
      ended();
      ids.delete(job.id);
      if (ids.size === 0) this.#underWay.delete(job.accountId);
    }
  }

  #renewing(job: Job, lost: AbortController): NodeJS.Timeout | undefined {
    const { name, renewal } = this.#work;
    if (renewal === undefined) return undefined;
    const renew = async () => {
      try {
        if (!(await renewal.renew(job))) lost.abort(new Error('another attempt has the job, or it is over'));
      } catch (err) {
        // The lease outlives some failures.
        this.#log.warn({ err, jobs: name, id: job.id }, 'the lease of a job could not be renewed');
      }
    };
    return setInterval(() => void renew(), renewal.everyMs).unref();
  }

  async #returnJob(job: Job, pauseMs: number): Promise<void> {
    const { name, putBack } = this.#work;
    if (putBack === undefined) return;
    this.#putBack += 1;
    await this.#db.transaction(async (tx) => {
      const dueMs = (await clockNow(tx)) + pauseMs;
      await putBack(tx, job, dueMs);
      await openTurn(tx, job.accountId, name, dueMs);
    }, job.accountId);
  }

  metrics(): Metric[] {
    const labels = { jobs: this.#work.name };
    return [
      {
        name: 'qm_jobs_late_seconds',
        help: 'For how long the account that waited longest had been due, at the last look.',
        labels,
        value: this.#lateSeconds,
      },
      {
        name: 'qm_jobs_put_back_total',
        help: 'Background jobs that failed, or did not end before the stop, and are due again.',
        labels,
        value: this.#putBack,
      },
    ];
  }
}
