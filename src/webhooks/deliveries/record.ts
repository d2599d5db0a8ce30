// A delivery's row and its record for calls (contract of webhooks).
import { iso, isoOrNull } from '../../lib/time.ts';

/** failed: stopped early, by 410 or an address that may not be reached. cancelled: webhook deleted. skipped: webhook disabled. */
export type DeliveryStatus = 'pending' | 'succeeded' | 'failed' | 'exhausted' | 'cancelled' | 'skipped';

export const deliveryStatuses: readonly DeliveryStatus[] = [
  'pending',
  'succeeded',
  'failed',
  'exhausted',
  'cancelled',
  'skipped',
];

/** How an attempt ended; an entry of the stored list. */
export interface AttemptRecord {
  readonly attempt: number;
  /** ISO 8601. */
  readonly at: string;
  readonly http_status: number | null;
  readonly error_code: string | null;
  readonly latency_ms: number | null;
}

export interface DeliveryRow {
  readonly account_id: string;
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: DeliveryStatus;
  readonly attempt: number;
  readonly due_at: number | null;
  readonly http_status: number | null;
  readonly error_code: string | null;
  readonly latency_ms: number | null;
  readonly response_snippet: string | null;
  /** JSON object; null before the first attempt has ended. */
  readonly request_headers: string | null;
  /** JSON list of AttemptRecord. */
  readonly attempts: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
}

export function attemptsOf(row: Pick<DeliveryRow, 'attempts'>): AttemptRecord[] {
  return row.attempts === null ? [] : (JSON.parse(row.attempts) as AttemptRecord[]);
}

/** Whether an attempt has begun and not ended. */
function isRunning(row: DeliveryRow): boolean {
  return row.attempt > (attemptsOf(row).at(-1)?.attempt ?? 0);
}

/** Whether its last attempt failed and the next one waits for its time. */
export function isPaused(row: DeliveryRow): boolean {
  return row.status === 'pending' && row.attempt > 0 && !isRunning(row);
}

/** The delivery on the wire. `next_attempt_at` is null while an attempt runs and when the delivery is over. */
export function deliveryRecord(row: DeliveryRow) {
  const attempts = attemptsOf(row);
  return {
    delivery_id: row.delivery_id,
    webhook_id: row.webhook_id,
    event_id: row.event_id,
    event_type: row.event_type,
    status: row.status,
    attempt: row.attempt,
    next_attempt_at: isRunning(row) ? null : isoOrNull(row.due_at),
    http_status: row.http_status,
    error_code: row.error_code,
    latency_ms: row.latency_ms,
    response_snippet: row.response_snippet,
    request_headers: row.request_headers === null ? null : (JSON.parse(row.request_headers) as Record<string, string>),
    attempts,
    created_at: iso(row.created_at),
    finished_at: isoOrNull(row.finished_at),
  };
}
