// Steps of a call that creates a job, common to all kinds: validation, and the initial row.

import type { CallContext } from '../kit/services.ts';
import { invalidField, problem } from '../problems/problem.ts';
import type { Candidate } from '../routing/choose.ts';
import type { Vendors } from '../routing/vendors.ts';
import type { NewJob } from './begin.ts';
import { RETENTION_DAYS } from './limits.ts';
import type { Link } from './row.ts';
import { type JobShape, sandboxWorkOf, vendorWorkOf } from './shape.ts';

/** Fields that all calls which make something share, as they were sent. */
export interface CommonInput {
  readonly model?: string | null;
  readonly vendor?: string | null;
  readonly store?: boolean;
  readonly retention_days?: number;
  readonly webhook_url?: string | null;
}

/** Throws VALIDATION_FAILED. */
export function requireStoreFor({ store, retention_days: days }: CommonInput): void {
  if (days !== undefined && store !== true)
    throw invalidField('retention_days', 'needs_store', 'retention_days goes with store: true.');
}

export const retentionOf = ({ store, retention_days: days }: CommonInput) =>
  store === true ? (days ?? RETENTION_DAYS) : 0;

/** Throws WEBHOOK_URL_REJECTED. Null: none was sent. */
export async function checkedWebhook(ctx: CallContext, { webhook_url: url }: CommonInput): Promise<string | null> {
  if (url == null) return null;
  const warning = await ctx.core.outbound.checkUrl(url, 'webhook_url');
  if (warning !== null) ctx.warnings.push(warning);
  return url;
}

/** Throws what the first of the chain is down for when all of it is down: no job would get anywhere now. */
export function requireSomebodyUp({ health }: Vendors, chain: readonly Candidate[], capability: string): void {
  const [first, ...others] = chain.map(({ vendor }) => health.downFor(vendor, capability));
  if (first == null || others.includes(null)) return;
  const { reason, retryAfterMs } = first;
  throw problem(reason, { message: 'No vendor that could take the job answers at present.', retryAfterMs });
}

/** A candidate as the job keeps it; what the vendor takes is the module's to say. */
export function linkFrom(
  { vendor, model, region, markupPct, quoteNanos, priceVersion }: Candidate,
  { vendorNanos, per }: { readonly vendorNanos: bigint; readonly per: Link['per'] },
): Link {
  const prices = { quoteNanos: Number(quoteNanos), vendorNanos: Number(vendorNanos), per, priceVersion };
  return { vendor, model, region, markupPct, ...prices };
}

export interface RowWish {
  readonly jobId: string;
  readonly operation: string;
  readonly parentId: string | null;
  /** JSON. */
  readonly request: string;
  readonly chain: readonly Link[];
  readonly isSandbox: boolean;
  readonly heldNanos: bigint;
  readonly storageNanos: bigint;
  readonly warnings: readonly string[];
  readonly common: CommonInput;
}

export function newRow(ctx: CallContext, shape: JobShape, wish: RowWish): NewJob['row'] {
  const [first] = wish.chain as [Link, ...Link[]];
  return {
    account_id: ctx.accountId,
    job_id: wish.jobId,
    operation: wish.operation,
    parent_job_id: wish.parentId,
    key_id: ctx.principal.id,
    request_id: ctx.requestId,
    trace_id: ctx.traceId,
    entry_form: ctx.entryForm,
    state: 'queued',
    version: 0,
    vendor: first.vendor,
    model: `${first.vendor}/${first.model}`,
    request: wish.request,
    chain: JSON.stringify(wish.chain),
    position: 0,
    left_reason: null,
    store: wish.common.store ?? false,
    retention_days: retentionOf(wish.common),
    held_nanos: wish.heldNanos,
    storage_nanos: wish.storageNanos,
    work: wish.isSandbox ? sandboxWorkOf(shape) : vendorWorkOf(shape),
    attempt: 0,
    progress_pct: null,
    current_step: null,
    expected_ms: null,
    running_at: null,
    finished_at: null,
    ended: null,
    cost_nanos: null,
    made: null,
    warnings: [...wish.warnings],
    expires_at: null,
    deleted: false,
    worker_id: null,
    deaths: 0,
  };
}
