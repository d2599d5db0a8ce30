// Delivers a job's end to its webhook URLs: the job's one event, in the format, with the signature and the retries of the webhooks module.

import { dueWork, type LeasedJob, type Wanted } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import { openTurn } from '../../core/background/turns.ts';
import { clockNow } from '../../core/database-clock.ts';
import { numberedEvent } from '../../core/events/read.ts';
import { eventText } from '../../core/events/wire.ts';
import { signedHeaders } from '../../core/outbound/signature.ts';
import { textArray } from '../../db/arrays.ts';
import type { Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import type { Services } from '../../kit/services.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import type { OutboundOutcome } from '../../vendors/http/port.ts';
import { defaultSecret } from '../../webhooks/default-secret.ts';
import { pauseAfter } from '../../webhooks/deliveries/retry-policy.ts';
import { DELIVERIES_AT_ONCE, LEASE_MS } from '../limits.ts';
import { type JobShape, webhookWorkOf } from '../shape.ts';

interface Delivery extends LeasedJob {
  readonly job_id: string;
  readonly number: number;
  readonly url: string;
  readonly event_id: string | null;
}

// The event is numbered within moments of the commit that told it.
const NOT_NUMBERED_MS = 100;
const GONE = 410;

/** Called once, at import: its statements are of the module's schema. */
export function webhookLoopOf(shape: JobShape): (core: Services) => JobLoop {
  const told: Telling = { work: webhookWorkOf(shape), ...statementsOf(shape) };
  return (core) =>
    dueWork<Delivery>(core, {
      name: told.work,
      places: DELIVERIES_AT_ONCE,
      claim: (tx, accountId, wanted) => claimDeliveries(told, tx, accountId, wanted),
      run: (delivery, signal) => deliver(core, told, delivery, signal),
      putBack: (tx, delivery, dueMs) =>
        save(told, tx, delivery, { status: 'pending', dueMs, attempt: delivery.attempt - 1 }),
    });
}

interface Telling extends ReturnType<typeof statementsOf> {
  readonly work: string;
}

function statementsOf({ name }: JobShape) {
  return {
    claim: statement(
      `${name}_claim_webhooks`,
      `WITH c AS MATERIALIZED (
     SELECT w.job_id, w.number, core.clock_now() + $4 * interval '1 millisecond' AS lease_end
       FROM ${name}.webhook w
      WHERE w.account_id = $1 AND w.due_at <= core.clock_now() AND (w.job_id || ' ' || w.number::text) <> ALL($3::text[])
      ORDER BY w.due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   UPDATE ${name}.webhook w SET due_at = c.lease_end, attempt = w.attempt + 1
     FROM c, ${name}.job j
    WHERE w.account_id = $1 AND w.job_id = c.job_id AND w.number = c.number AND j.account_id = $1 AND j.job_id = c.job_id
   RETURNING w.job_id, w.number, w.url, w.attempt, j.event_id`,
    ),
    nextDue: statement(
      `${name}_next_webhook`,
      `SELECT w.due_at FROM ${name}.webhook w WHERE w.account_id = $1 AND w.due_at IS NOT NULL ORDER BY w.due_at LIMIT 1`,
    ),
    saveDelivery: statement(
      `${name}_save_webhook`,
      `UPDATE ${name}.webhook SET status = $5, due_at = $6, attempt = $7
    WHERE account_id = $1 AND job_id = $2 AND number = $3 AND attempt = $4 AND due_at IS NOT NULL`,
    ),
  };
}

async function claimDeliveries(
  { claim, nextDue }: Telling,
  tx: Transaction,
  accountId: string,
  { limit, underWay }: Wanted,
) {
  const [claimed, left] = await Promise.all([
    tx.query<Omit<Delivery, 'accountId' | 'id'>>(claim, [accountId, limit, textArray(underWay), LEASE_MS]),
    tx.query<{ due_at: number }>(nextDue, [accountId]),
  ]);
  const jobs = claimed.rows.map((row) => ({ ...row, accountId, id: `${row.job_id} ${row.number}` }));
  return { jobs, nextMs: left.rows[0]?.due_at ?? null };
}

async function deliver(core: Services, told: Telling, delivery: Delivery, signal: AbortSignal): Promise<void> {
  const { db, secrets, outbound, region } = core;
  const { accountId, event_id: eventId, url, attempt } = delivery;
  const event = eventId === null ? null : await numberedEvent(db, accountId, eventId);
  if (event === null)
    return end(core, told, delivery, { status: 'pending', pauseMs: NOT_NUMBERED_MS, attempt: attempt - 1 });
  const { current, previous } = await defaultSecret(db, secrets, accountId);
  const body = eventText(event, region);
  const signed = signedHeaders(
    { id: event.event_id, timestampMs: Date.now(), body },
    previous === null ? [current] : [current, previous],
  );
  const outcome = await outbound.post({ url, headers: signed, body, signal });
  if (signal.aborted && outcome.kind === 'failed') throw new Error('the attempt was ended by this process');
  await end(core, told, delivery, { ...verdictOf(outcome, attempt), attempt });
}

interface Verdict {
  readonly status: 'pending' | 'succeeded' | 'failed';
  /** Until the next attempt; null: there is none. */
  readonly pauseMs: number | null;
}

function verdictOf(outcome: OutboundOutcome, attempt: number): Verdict {
  const isAnswered = outcome.kind === 'answered';
  if (isAnswered && outcome.status >= 200 && outcome.status < 300) return { status: 'succeeded', pauseMs: null };
  const isRefused = isAnswered ? outcome.status === GONE : outcome.code === 'refused';
  const asked = isAnswered ? retryAfterMs(outcome.retryAfter, Date.now()) : null;
  const pauseMs = isRefused ? null : pauseAfter('default', attempt, asked);
  return { status: pauseMs === null ? 'failed' : 'pending', pauseMs };
}

function end(
  { db }: Services,
  told: Telling,
  delivery: Delivery,
  verdict: Verdict & { readonly attempt: number },
): Promise<void> {
  return db.transaction(async (tx) => {
    const { status, pauseMs, attempt } = verdict;
    const dueMs = pauseMs === null ? null : (await clockNow(tx)) + pauseMs;
    await save(told, tx, delivery, { status, dueMs, attempt });
    if (dueMs !== null) await openTurn(tx, delivery.accountId, told.work, dueMs);
  }, delivery.accountId);
}

/** Fenced by the attempt that the delivery was claimed with. */
async function save(
  { saveDelivery }: Telling,
  tx: Transaction,
  { accountId, job_id, number, attempt: claimed }: Delivery,
  {
    status,
    dueMs,
    attempt,
  }: { readonly status: Verdict['status']; readonly dueMs: number | null; readonly attempt: number },
): Promise<void> {
  const due = timestamp(dueMs);
  await tx.query(saveDelivery, [accountId, job_id, number, claimed, status, due, attempt]);
}
