// Writes outcomes of attempts, fenced by the attempt number and by `pending`. A delivery that was cancelled, skipped, or claimed again after its
// lease ended is not changed. Lock order: webhook, line, deliveries.

import { clockNow } from '../../core/database-clock.ts';
import { int2Array, int4Array, textArray, timestampArray } from '../../db/arrays.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { iso } from '../../lib/time.ts';
import type { RetryPolicy } from '../registrations/store.ts';
import type { Health } from '../turns/places.ts';
import { type AttemptResult, isMade } from './attempt.ts';
import { type AttemptRecord, attemptsOf, type DeliveryStatus } from './record.ts';
import { pauseAfter } from './retry-policy.ts';
import { type DisabledReason, type Standing, standingAfter } from './standing.ts';
import { endDeliveries } from './store.ts';

/** An attempt for which there was no room is not made before. */
const POSTPONED_MS = 5_000;

export interface Outcome {
  readonly accountId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  /** JSON list of the attempts before. */
  readonly attempts: string | null;
  readonly retryPolicy: RetryPolicy;
  /** What the process knows of the line: a success of a healthy one changes no row but the delivery's. */
  readonly wasHealthy: boolean;
  readonly result: AttemptResult;
}

export interface Disabled {
  readonly accountId: string;
  readonly webhookId: string;
  readonly reason: DisabledReason;
}

interface WebhookRow {
  readonly account_id: string;
  readonly webhook_id: string;
  readonly failed_attempts: number;
  readonly failing_since: number | null;
}

const lockWebhooks = statement(
  'outcome_lock_webhooks',
  `SELECT w.account_id, w.webhook_id, w.failed_attempts, w.failing_since
     FROM unnest($2::text[], $3::text[]) u(account_id, webhook_id), core.webhook w
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id AND w.webhook_id = u.webhook_id AND w.status = 'enabled'
    ORDER BY w.account_id, w.webhook_id
      FOR UPDATE OF w`,
);
const saveWebhooks = statement(
  'outcome_save_webhooks',
  `UPDATE core.webhook AS w
      SET failed_attempts = u.failed_attempts, failing_since = u.failing_since,
          status = CASE WHEN u.reason IS NULL THEN w.status ELSE 'disabled' END,
          disabled_reason = coalesce(u.reason, w.disabled_reason),
          disabled_at = CASE WHEN u.reason IS NULL THEN w.disabled_at ELSE $2::timestamptz END
     FROM unnest($3::text[], $4::text[], $5::int[], $6::timestamptz[], $7::text[]) u(account_id, webhook_id, failed_attempts, failing_since, reason)
    WHERE w.account_id = ANY($1::text[]) AND w.webhook_id = ANY($4::text[])
      AND w.account_id = u.account_id AND w.webhook_id = u.webhook_id`,
);
const saveLines = statement(
  'outcome_save_lines',
  `UPDATE core.delivery_line AS l
      SET health = coalesce(u.health, l.health), due_at = least(l.due_at, u.due_at)
     FROM unnest($2::text[], $3::text[], $4::smallint[], $5::timestamptz[]) u(account_id, webhook_id, health, due_at)
    WHERE l.account_id = ANY($1::text[]) AND l.account_id = u.account_id AND l.webhook_id = u.webhook_id`,
);
const saveDeliveries = statement(
  'outcome_save_deliveries',
  `UPDATE core.delivery AS t
      SET status = u.status, due_at = u.due_at, http_status = u.http_status, error_code = u.error_code,
          latency_ms = u.latency_ms, response_snippet = u.snippet, request_headers = u.request_headers, attempts = u.attempts,
          finished_at = CASE WHEN u.due_at IS NULL THEN $2::timestamptz END
     FROM unnest($3::text[], $4::text[], $5::int[], $6::text[], $7::timestamptz[], $8::int[], $9::text[], $10::int[],
                 $11::text[], $12::text[], $13::text[])
          u(account_id, delivery_id, attempt, status, due_at, http_status, error_code, latency_ms, snippet,
            request_headers, attempts)
    WHERE t.account_id = ANY($1::text[]) AND t.account_id = u.account_id AND t.delivery_id = u.delivery_id
      AND t.attempt = u.attempt AND t.status = 'pending'`,
);
const giveBack = statement(
  'outcome_give_back',
  `UPDATE core.delivery AS t
      SET due_at = u.due_at, attempt = t.attempt - 1
     FROM unnest($2::timestamptz[], $3::text[], $4::text[], $5::int[]) u(due_at, account_id, delivery_id, attempt)
    WHERE t.account_id = ANY($1::text[]) AND t.account_id = u.account_id AND t.delivery_id = u.delivery_id
      AND t.attempt = u.attempt AND t.status = 'pending'`,
);
const endUnsent = statement(
  'outcome_end_unsent',
  `UPDATE core.delivery AS t
      SET status = $4, error_code = $5, due_at = NULL, finished_at = $6
    WHERE t.account_id = $1 AND t.delivery_id = $2 AND t.attempt = $3 AND t.status = 'pending'`,
);

/** Whether it changes rows of the webhook and its line, too, and so waits for those who hold them. */
export function changesWebhook({ result, wasHealthy }: Outcome): boolean {
  return result.verdict !== 'succeeded' || !wasHealthy;
}

/** Writes outcomes of any number of accounts, in the order in which the attempts ended; answers which webhooks it disabled. */
export async function writeOutcomes(db: Database, outcomes: readonly Outcome[]): Promise<Disabled[]> {
  const disabled = await Promise.all(db.byTransaction(outcomes).map((part) => writeTogether(db, part)));
  return disabled.flat();
}

function writeTogether(db: Database, outcomes: readonly Outcome[]): Promise<Disabled[]> {
  return db.hot.pipelinedTransaction(async (tx) => {
    const accounts = textArray([...new Set(outcomes.map((outcome) => outcome.accountId))].sort());
    const changing = outcomes.filter(changesWebhook);
    const changed = [...new Map(changing.map((outcome) => [outcome.webhookId, outcome])).values()];
    const [nowMs, webhooks] = await Promise.all([
      clockNow(tx),
      changed.length === 0 ? null : tx.query<WebhookRow>(lockWebhooks, [accounts, ...keysOf(changed)]),
    ]);
    const steps = outcomes.map((outcome) => stepOf(outcome, nowMs));
    const standings = standingsOf(webhooks?.rows ?? [], outcomes, nowMs);
    tx.cork();
    if (standings.length > 0) sendWebhooks(tx, accounts, standings, nowMs);
    if (changing.length > 0) sendLines(tx, accounts, changing, standings, steps);
    sendDeliveries(tx, accounts, steps, nowMs);
    const disabled = standings.flatMap(({ row, standing }) =>
      standing.disable === null
        ? []
        : [{ accountId: row.account_id, webhookId: row.webhook_id, reason: standing.disable }],
    );
    for (const { accountId, webhookId } of disabled) await endDeliveries(tx, accountId, webhookId, 'skipped', nowMs);
    return disabled;
  }, outcomes[0]?.accountId);
}

function keysOf(outcomes: readonly Outcome[]): [Buffer, Buffer] {
  return [textArray(outcomes.map(({ accountId }) => accountId)), textArray(outcomes.map(({ webhookId }) => webhookId))];
}

/** Ends a claimed delivery that cannot be sent: its webhook is gone or disabled, or its event is not kept any more. */
export async function endUnsentDelivery(
  db: Database,
  delivery: Pick<Outcome, 'accountId' | 'deliveryId' | 'attempt'>,
  status: 'cancelled' | 'skipped' | 'failed',
  errorCode: string | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    const now = timestamp(await clockNow(tx));
    const { accountId, deliveryId, attempt } = delivery;
    await tx.query(endUnsent, [accountId, deliveryId, attempt, status, errorCode, now]);
  }, delivery.accountId);
}

/** What becomes of a delivery. */
interface Step {
  readonly outcome: Outcome;
  readonly status: DeliveryStatus;
  readonly dueMs: number | null;
  readonly attempts: readonly AttemptRecord[];
}

function stepOf(outcome: Outcome, nowMs: number): Step {
  const { result } = outcome;
  const before = attemptsOf(outcome);
  if (result.verdict === 'aborted') return { outcome, status: 'pending', dueMs: nowMs, attempts: before };
  if (result.verdict === 'postponed')
    return { outcome, status: 'pending', dueMs: nowMs + POSTPONED_MS, attempts: before };
  const attempts = [...before, recordOf(outcome, nowMs)];
  if (result.verdict === 'succeeded') return { outcome, status: 'succeeded', dueMs: null, attempts };
  if (result.verdict !== 'failed') return { outcome, status: 'failed', dueMs: null, attempts };
  // Attempts whose outcome was lost with their process do not bring a delivery closer to its end.
  const pauseMs = pauseAfter(outcome.retryPolicy, attempts.length, retryAfterMs(result.retryAfter, Date.now()));
  if (pauseMs === null) return { outcome, status: 'exhausted', dueMs: null, attempts };
  return { outcome, status: 'pending', dueMs: nowMs + pauseMs, attempts };
}

function recordOf({ attempt, result }: Outcome, nowMs: number): AttemptRecord {
  return {
    attempt,
    at: iso(nowMs - result.latencyMs),
    http_status: result.httpStatus,
    error_code: result.errorCode,
    latency_ms: result.latencyMs,
  };
}

interface WebhookStanding {
  readonly row: WebhookRow;
  readonly standing: Standing;
}

function standingsOf(rows: readonly WebhookRow[], outcomes: readonly Outcome[], nowMs: number): WebhookStanding[] {
  return rows.map((row) => {
    const verdicts = outcomes
      .filter((outcome) => outcome.webhookId === row.webhook_id)
      .map((outcome) => outcome.result.verdict);
    const before = { failedAttempts: row.failed_attempts, failingSinceMs: row.failing_since };
    return { row, standing: standingAfter(before, verdicts, nowMs) };
  });
}

function sendWebhooks(tx: Transaction, accounts: Buffer, standings: readonly WebhookStanding[], nowMs: number): void {
  void tx.query(saveWebhooks, [
    accounts,
    timestamp(nowMs),
    textArray(standings.map(({ row }) => row.account_id)),
    textArray(standings.map(({ row }) => row.webhook_id)),
    int4Array(standings.map(({ standing }) => standing.failedAttempts)),
    timestampArray(standings.map(({ standing }) => standing.failingSinceMs)),
    textArray(standings.map(({ standing }) => standing.disable)),
  ]);
}

/** One row a line: its health, and when the first of what is due again is due. */
function sendLines(
  tx: Transaction,
  accounts: Buffer,
  changing: readonly Outcome[],
  standings: readonly WebhookStanding[],
  steps: readonly Step[],
): void {
  const health = new Map<string, Health | null>(
    standings.map(({ row, standing }) => [row.webhook_id, standing.health]),
  );
  const lines = new Map(changing.map((outcome) => [outcome.webhookId, outcome.accountId]));
  const dueMs = new Map<string, number>();
  for (const { outcome, dueMs: at } of steps) {
    if (at !== null) dueMs.set(outcome.webhookId, Math.min(at, dueMs.get(outcome.webhookId) ?? at));
  }
  const webhookIds = [...lines.keys()].sort();
  void tx.query(saveLines, [
    accounts,
    textArray(webhookIds.map((id) => lines.get(id) as string)),
    textArray(webhookIds),
    int2Array(webhookIds.map((id) => health.get(id) ?? null)),
    timestampArray(webhookIds.map((id) => dueMs.get(id) ?? null)),
  ]);
}

function sendDeliveries(tx: Transaction, accounts: Buffer, steps: readonly Step[], nowMs: number): void {
  const ended = steps.filter(({ outcome }) => isMade(outcome.result));
  const returned = steps.filter(({ outcome }) => !isMade(outcome.result));
  if (returned.length > 0) {
    const dueAt = timestampArray(returned.map(({ dueMs }) => dueMs));
    void tx.query(giveBack, [accounts, dueAt, ...fencesOf(returned.map(({ outcome }) => outcome))]);
  }
  if (ended.length === 0) return;
  const results = ended.map(({ outcome }) => outcome.result);
  void tx.query(saveDeliveries, [
    accounts,
    timestamp(nowMs),
    ...fencesOf(ended.map(({ outcome }) => outcome)),
    textArray(ended.map(({ status }) => status)),
    timestampArray(ended.map(({ dueMs }) => dueMs)),
    int4Array(results.map((result) => result.httpStatus)),
    textArray(results.map((result) => result.errorCode)),
    int4Array(results.map((result) => result.latencyMs)),
    textArray(results.map((result) => result.snippet)),
    textArray(results.map((result) => result.requestHeaders)),
    textArray(ended.map(({ attempts }) => JSON.stringify(attempts))),
  ]);
}

function fencesOf(outcomes: readonly Outcome[]): [Buffer, Buffer, Buffer] {
  return [
    textArray(outcomes.map((outcome) => outcome.accountId)),
    textArray(outcomes.map((outcome) => outcome.deliveryId)),
    int4Array(outcomes.map((outcome) => outcome.attempt)),
  ];
}
