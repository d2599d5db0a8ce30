// Ends a job: state, money, event and webhook deliveries are one transaction. Of concurrent ends, the one that has seen the job's latest version
// wins. Only this file captures or releases a job's hold.
import { openTurn } from '../core/background/turns.ts';
import { clockNow } from '../core/database-clock.ts';
import { nextEventId, sendEvents } from '../core/events/outbox.ts';
import { releaseHold, settleHold } from '../core/wallet/holds/settle-hold.ts';
import { countAccepted } from '../core/wallet/ledger/accepted-units.ts';
import type { Transaction } from '../db/database.ts';
import { DAY_MS } from '../lib/time.ts';
import type { Problem } from '../problems/problem.ts';
import { renderProblem } from '../problems/render.ts';
import type { JobHost } from './kind.ts';
import { EVENT_LINK_SECONDS } from './limits.ts';
import type { Charge } from './price.ts';
import { chainOf, type Ended, endedOf, type JobRow, type JobState, type Link } from './row.ts';

/** How a live job ends. */
export type JobEnd =
  | {
      readonly state: 'succeeded';
      /** JSON of what was made. */
      readonly made: string;
      readonly warnings: readonly string[];
      readonly charge: Charge;
    }
  | { readonly state: 'failed'; readonly problem: Problem }
  | { readonly state: 'expired'; readonly reason: 'deadline' | 'vendor_expired' }
  /** `settles: false`: the vendor may yet bill; the hold waits for that (settleMoney). */
  | { readonly state: 'cancelled'; readonly cancel: NonNullable<Ended['cancel']>; readonly settles: boolean };

export type Ending = Pick<JobHost, 'core' | 'kind' | 'shown' | 'pickupMs'>;

export interface EndOptions {
  /** Of the call that ends it; absent: it ends by itself. */
  readonly requestId?: string;
  /** A vendor may still be at work on it: it is looked after from then on, in so many milliseconds. */
  readonly lookInMs?: number;
  /** What is written of the vendor with the end. */
  readonly also?: (tx: Transaction, nowMs: number) => Promise<unknown>;
}

/** Ends the job, unless another end was first: answers the job as it is then, else null. */
export function endJob(ending: Ending, job: JobRow, end: JobEnd, options: EndOptions = {}): Promise<JobRow | null> {
  return ending.core.db.transaction((tx) => endJobIn(tx, ending, job, end, options), job.account_id);
}

export async function endJobIn(
  tx: Transaction,
  ending: Ending,
  job: JobRow,
  end: JobEnd,
  { requestId, lookInMs, also }: EndOptions,
): Promise<JobRow | null> {
  const nowMs = await clockNow(tx);
  const dueMs = lookInMs === undefined ? null : nowMs + lookInMs;
  const after = { ...jobAfter(ending, job, end, nowMs), due_at: dueMs };
  const eventId = nextEventId();
  const { store, webhooks } = ending.kind.tables;
  if (!(await store.end(tx, job, after, eventId))) return null;
  if (dueMs !== null) await openTurn(tx, job.account_id, job.work, dueMs);
  await also?.(tx, nowMs);
  await webhooks.release(tx, after, nowMs);
  const told = (await webhooks.of(tx, job.account_id, [job.job_id])).get(job.job_id) ?? [];
  const object = ending.kind.record(after, told, { ...ending.shown, nowMs, linkSeconds: EVENT_LINK_SECONDS });
  const { completed, failed } = ending.kind.events;
  const type = end.state === 'succeeded' ? completed : failed;
  sendEvents(tx, [{ accountId: job.account_id, type, data: { object }, requestId: requestId ?? null, eventId }], nowMs);
  // The wallet is locked last: nothing waits for it longer than this commit takes.
  if (end.state === 'succeeded') await capture(tx, ending, job, end.charge);
  else if (end.state !== 'cancelled' || end.settles) await releaseHold(tx, job.account_id, job.hold_id);
  return after;
}

/**
 * Settles what a cancelled job cost, once its vendor has said so; a `charge` of nothing gives everything back. Answers whether it was
 * settled now.
 */
export function settleMoney(ending: Ending, job: JobRow, charge: Charge, options: EndOptions = {}): Promise<boolean> {
  return ending.core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const { lookInMs, also } = options;
    const dueMs = lookInMs === undefined ? null : nowMs + lookInMs;
    const ended = endedOf(job);
    const cancel = ended?.cancel == null ? null : { ...ended.cancel, mayBeCharged: false };
    const costNanos = charge.workNanos;
    const settled = { costNanos, dueMs, ended: JSON.stringify({ ...ended, cancel }) };
    if (!(await ending.kind.tables.store.settle(tx, job, settled))) return false;
    if (dueMs !== null) await openTurn(tx, job.account_id, job.work, dueMs);
    await also?.(tx, nowMs);
    if (costNanos > 0n) await capture(tx, ending, job, charge);
    else await releaseHold(tx, job.account_id, job.hold_id);
    return true;
  }, job.account_id);
}

function jobAfter({ shown, pickupMs }: Ending, job: JobRow, end: JobEnd, nowMs: number) {
  const ended = {
    ...job,
    state: end.state satisfies JobState,
    version: job.version + 1,
    finished_at: nowMs,
    current_step: null,
  };
  switch (end.state) {
    case 'succeeded': {
      const keepMs = job.retention_days === 0 ? pickupMs : job.retention_days * DAY_MS;
      const { charge, made, warnings } = end;
      return {
        ...ended,
        made,
        warnings: [...job.warnings, ...warnings],
        cost_nanos: charge.workNanos + charge.storageNanos,
        expires_at: nowMs + keepMs,
        progress_pct: 100,
      };
    }
    case 'failed': {
      const ids = { requestId: job.request_id, traceId: job.trace_id };
      // What ends a job is said in words meant for its owner, also where the fault is ours.
      const error = { ...renderProblem(end.problem, ids, shown.baseUrl), message: end.problem.message };
      return {
        ...ended,
        ...over({ error }),
        ...purgeable(nowMs + pickupMs),
      };
    }
    case 'expired':
      return { ...ended, ...over({ reason: end.reason }), ...purgeable(nowMs + pickupMs) };
    case 'cancelled':
      return {
        ...ended,
        ...over({ reason: 'cancelled', cancel: end.cancel }, end.settles),
        ...purgeable(nowMs + pickupMs),
      };
  }
}

/** What an end without a result leaves: nothing charged, unless the money waits. */
function over(ended: Partial<Ended>, settles = true) {
  return {
    ended: JSON.stringify({ error: null, reason: null, cancel: null, ...ended } satisfies Ended),
    cost_nanos: settles ? 0n : null,
  };
}

/** Words and pictures go with the day in which a result could have been fetched. */
function purgeable(expiresMs: number) {
  return { expires_at: expiresMs };
}

async function capture(tx: Transaction, { core, kind }: Ending, job: JobRow, charge: Charge): Promise<void> {
  const { priceVersion } = chainOf(job)[job.position] as Link;
  const { account_id: accountId, hold_id: holdId } = job;
  const { name } = kind.tables.shape;
  const storage = { accountId, capability: kind.storagePrice, units: charge.storageUnits };
  await countAccepted(tx, [
    { accountId, capability: `${name}.${job.operation}`, units: BigInt(charge.units) },
    ...(charge.storageUnits === 0n ? [] : [storage]),
  ]);
  const settled = await settleHold(tx, accountId, holdId, {
    capturedNanos: charge.workNanos + charge.storageNanos,
    units: BigInt(charge.units),
    priceVersion,
    isCounted: true,
    ...(charge.storageUnits === 0n
      ? {}
      : { also: { ...storage, nanos: charge.storageNanos, priceVersion: core.prices.version } }),
  });
  if (settled?.settledNow !== true) throw new Error(`the hold of ${job.job_id} is ${settled?.status ?? 'gone'}`);
}
