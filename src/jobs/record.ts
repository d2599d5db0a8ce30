// The public record of a job: fields common to all kinds.
import { usd } from '../lib/money.ts';
import { iso, isoOrNull } from '../lib/time.ts';
import type { FailoverReason } from '../vendors/call/port.ts';
import type { JobLinks } from './links.ts';
import { chainOf, endedOf, type JobRow, type Link } from './row.ts';

/** Who is told of the end of a job, and how that stands. */
export interface JobWebhook {
  readonly url: string;
  readonly status: 'waiting' | 'pending' | 'succeeded' | 'failed';
  readonly attempts: number;
}

export interface Shown {
  readonly nowMs: number;
  readonly baseUrl: string;
  /** How long its links work; an hour when absent. */
  readonly linkSeconds?: number;
  readonly links: JobLinks;
  readonly cnyPerUsd: number;
}

/** How it stands with a job. */
export function standing(row: JobRow, webhooks: readonly JobWebhook[], shown: Shown) {
  const ended = endedOf(row);
  return {
    job_id: row.job_id,
    state: row.state,
    model: row.model,
    vendor: row.vendor,
    store: row.store,
    cost_usd: row.cost_nanos === null ? null : usd(row.cost_nanos),
    created_at: iso(row.created_at),
    finished_at: isoOrNull(row.finished_at),
    retention_days: row.retention_days,
    error: ended?.error ?? null,
    end_reason: ended?.reason ?? null,
    ...(ended?.cancel == null
      ? {}
      : { cancel: { vendor_stopped: ended.cancel.vendorStopped, may_be_charged: ended.cancel.mayBeCharged } }),
    warnings: row.warnings,
    expires_at: row.made === null ? null : isoOrNull(row.expires_at),
    webhooks,
    ...(row.running_at === null ? {} : { metadata: workRecord(row, shown) }),
  };
}

/** How the work is done, in the form of an answer's metadata. */
function workRecord(row: JobRow, { nowMs, cnyPerUsd }: Shown) {
  const cost = usd(row.cost_nanos ?? 0n);
  const chain = chainOf(row);
  const primary = chain[0] as Link;
  const actual = chain[row.position] as Link;
  return {
    request_id: row.request_id,
    trace_id: row.trace_id,
    timestamp: iso(row.created_at),
    latency_ms: Math.max(0, (row.finished_at ?? nowMs) - row.created_at),
    entry_form: row.entry_form,
    cost_usd: cost,
    cost_cny: Number((cost * cnyPerUsd).toFixed(9)),
    vendor: actual.vendor,
    vendor_region: actual.region,
    markup_pct: actual.markupPct,
    cache_layer: 'none',
    edge_pop: 'local',
    worker_id: row.worker_id ?? 'unknown',
    idempotent_replay: false,
    ...(row.left_reason === null
      ? {}
      : { failover_info: failoverInfo(primary, actual, row.left_reason, row.position) }),
  };
}

function failoverInfo(primary: Link, actual: Link, reason: FailoverReason, depth: number) {
  return {
    primary_vendor: primary.vendor,
    actual_vendor: actual.vendor,
    primary_model: primary.model,
    actual_model: actual.model,
    cost_at_primary: usd(BigInt(primary.quoteNanos)),
    cost_at_actual: usd(BigInt(actual.quoteNanos)),
    // What was free has no multiple.
    cost_multiplier: primary.quoteNanos === 0 ? 1 : Number((actual.quoteNanos / primary.quoteNanos).toFixed(6)),
    failover_reason: reason,
    fallback_chain_depth: depth,
  };
}
