// The end of a job: state, money, event and the webhooks that are told are one transaction, won by whoever has seen the job's last
// version. What was held is captured or given back here, and nowhere else.
import { openTurn } from '../../../core/background/turns.ts';
import type { Core } from '../../../core/context.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { nextEventId, sendEvents } from '../../../core/events/outbox.ts';
import { releaseHold, settleHold } from '../../../core/wallet/holds/settle-hold.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { DAY_MS } from '../../../lib/time.ts';
import type { Problem } from '../../../problems/problem.ts';
import { renderProblem } from '../../../problems/render.ts';
import { EVENT_LINK_SECONDS } from '../limits.ts';
import { type Charge, STORAGE_PRICE } from './price.ts';
import { jobRecord, type Shown } from './record.ts';
import { chainOf, type Ended, endedOf, type JobRow, type JobState, type Link, type StoredVideo } from './row.ts';
import { releaseJobWebhooks, webhooksOf } from './webhooks.ts';

/** How a live job ends. */
export type JobEnd =
  | {
      readonly state: 'succeeded';
      readonly video: StoredVideo;
      readonly warnings: readonly string[];
      readonly charge: Charge;
    }
  | { readonly state: 'failed'; readonly problem: Problem }
  | { readonly state: 'expired'; readonly reason: 'deadline' | 'vendor_expired' }
  /** `settles: false`: the vendor may yet bill; the hold waits for that (settleMoney). */
  | { readonly state: 'cancelled'; readonly cancel: NonNullable<Ended['cancel']>; readonly settles: boolean };

export interface Ending {
  readonly core: Core;
  readonly shown: Omit<Shown, 'nowMs'>;
  /** How long a video is kept that is not stored. */
  readonly pickupMs: number;
}

const endJobRow = statement(
  'video_end_job',
  `UPDATE video.job
      SET state = $4, version = version + 1, finished_at = $5, due_at = $6, leased = false, deaths = 0, ended = $7, cost_nanos = $8, film = $9, warnings = $10,
          expires_at = $11, progress_pct = $12, event_id = $13, current_step = NULL
    WHERE account_id = $1 AND job_id = $2 AND version = $3 AND state IN ('queued', 'running')`,
);
const settleJobRow = statement(
  'video_settle_job',
  `UPDATE video.job SET cost_nanos = $3, due_at = $4, leased = false, ended = $5
    WHERE account_id = $1 AND job_id = $2 AND cost_nanos IS NULL`,
);

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
  return ending.core.db.transaction((tx) => endJobIn(tx, ending, job, end, options));
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
  if (!(await saveEnd(tx, job, after, eventId))) return null;
  if (dueMs !== null) await openTurn(tx, job.account_id, job.work, dueMs);
  await also?.(tx, nowMs);
  await releaseJobWebhooks(tx, after, nowMs);
  const webhooks = (await webhooksOf(tx, job.account_id, [job.job_id])).get(job.job_id) ?? [];
  const object = jobRecord(after, webhooks, { ...ending.shown, nowMs, linkSeconds: EVENT_LINK_SECONDS });
  const type = end.state === 'succeeded' ? 'video.job.completed' : 'video.job.failed';
  sendEvents(tx, [{ accountId: job.account_id, type, data: { object }, requestId: requestId ?? null, eventId }], nowMs);
  // The wallet is locked last: nothing waits for it longer than this commit takes.
  if (end.state === 'succeeded') await capture(tx, ending.core, job, end.charge);
  else if (end.state !== 'cancelled' || end.settles) await releaseHold(tx, job.account_id, job.hold_id);
  return after;
}

/**
 * Settles what a cancelled job cost, once its vendor has said so; a `charge` of nothing gives everything back. Answers whether it was
 * settled now.
 */
export function settleMoney({ core }: Ending, job: JobRow, charge: Charge, options: EndOptions = {}): Promise<boolean> {
  return core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const { lookInMs, also } = options;
    const dueMs = lookInMs === undefined ? null : nowMs + lookInMs;
    const ended = endedOf(job);
    const cancel = ended?.cancel == null ? null : { ...ended.cancel, mayBeCharged: false };
    const costNanos = charge.workNanos;
    const after = JSON.stringify({ ...ended, cancel });
    const { count } = await tx.query(settleJobRow, [job.account_id, job.job_id, costNanos, timestamp(dueMs), after]);
    if (count === 0) return false;
    if (dueMs !== null) await openTurn(tx, job.account_id, job.work, dueMs);
    await also?.(tx, nowMs);
    if (costNanos > 0n) await capture(tx, core, job, charge);
    else await releaseHold(tx, job.account_id, job.hold_id);
    return true;
  });
}

async function saveEnd(tx: Transaction, job: JobRow, after: JobRow, eventId: string): Promise<boolean> {
  const { count } = await tx.query(endJobRow, [
    ...[job.account_id, job.job_id, job.version, after.state],
    ...[timestamp(after.finished_at), timestamp(after.due_at), after.ended, after.cost_nanos, after.video],
    ...[textArray(after.warnings), timestamp(after.expires_at), after.progress_pct, eventId],
  ]);
  return count === 1;
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
      const { charge, video, warnings } = end;
      return {
        ...ended,
        video: JSON.stringify(video),
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

/** What an end without a video leaves: nothing charged, unless the money waits. */
function over(ended: Partial<Ended>, settles = true) {
  return {
    ended: JSON.stringify({ error: null, reason: null, cancel: null, ...ended } satisfies Ended),
    cost_nanos: settles ? 0n : null,
  };
}

/** The prompt and the reference image go with the day in which a video could have been fetched. */
function purgeable(expiresMs: number) {
  return { expires_at: expiresMs };
}

async function capture(tx: Transaction, core: Core, job: JobRow, charge: Charge): Promise<void> {
  const { priceVersion } = chainOf(job)[job.position] as Link;
  const { account_id: accountId, hold_id: holdId } = job;
  const storage = { accountId, capability: STORAGE_PRICE, units: charge.storageUnits };
  await countAccepted(tx, [
    { accountId, capability: `video.${job.operation}`, units: BigInt(charge.seconds) },
    ...(charge.storageUnits === 0n ? [] : [storage]),
  ]);
  const settled = await settleHold(tx, accountId, holdId, {
    capturedNanos: charge.workNanos + charge.storageNanos,
    units: BigInt(charge.seconds),
    priceVersion,
    ...(charge.storageUnits === 0n
      ? {}
      : { also: { ...storage, nanos: charge.storageNanos, priceVersion: core.prices.version } }),
  });
  if (settled?.settledNow !== true) throw new Error(`the hold of ${job.job_id} is ${settled?.status ?? 'gone'}`);
}
