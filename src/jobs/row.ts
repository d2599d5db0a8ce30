// The stored row of a job. Parts that SQL never reads are JSON: the request, the chain of vendors, the output, the end.
import type { ErrorObject } from '../problems/render.ts';
import type { FailoverReason } from '../vendors/call/port.ts';

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const;
export type JobState = (typeof jobStates)[number];

export const isLive = (state: JobState) => state === 'queued' || state === 'running';

/** One vendor that may be asked, with its quote; frozen when the job is accepted. */
export interface Link {
  readonly vendor: string;
  readonly model: string;
  readonly region: 'china' | 'western';
  readonly markupPct: 0 | 0.05;
  /** Nano-USD, markup included. */
  readonly quoteNanos: number;
  /** What the vendor takes for it, nano-USD; of so many units, or of the clip, whatever its length. */
  readonly vendorNanos: number;
  readonly per: 'second' | 'image' | 'clip';
  readonly priceVersion: string;
}

/** How the job ended when it did not succeed, and how a cancel stands. */
export interface Ended {
  readonly error: ErrorObject | null;
  readonly reason: 'deadline' | 'vendor_expired' | 'cancelled' | null;
  readonly cancel: {
    readonly vendorStopped: 'yes' | 'requested' | 'impossible';
    readonly mayBeCharged: boolean;
  } | null;
}

export interface JobRow {
  readonly account_id: string;
  readonly job_id: string;
  readonly operation: string;
  readonly parent_job_id: string | null;
  readonly key_id: string;
  readonly request_id: string;
  readonly trace_id: string;
  readonly entry_form: string;
  readonly state: JobState;
  readonly version: number;
  readonly vendor: string;
  /** `vendor/model`. */
  readonly model: string;
  /** JSON of what is wanted. */
  readonly request: string;
  /** JSON of Link[]. */
  readonly chain: string;
  readonly position: number;
  /** Why the first of the chain was left; null: it was not. */
  readonly left_reason: FailoverReason | null;
  readonly store: boolean;
  readonly retention_days: number;
  readonly hold_id: string;
  readonly held_nanos: bigint;
  /** Part of held_nanos: the most that storage may cost. */
  readonly storage_nanos: bigint;
  readonly work: string;
  readonly due_at: number | null;
  readonly attempt: number;
  readonly progress_pct: number | null;
  readonly current_step: string | null;
  readonly expected_ms: bigint | null;
  readonly created_at: number;
  readonly running_at: number | null;
  readonly deadline_at: number;
  readonly finished_at: number | null;
  /** JSON of Ended. */
  readonly ended: string | null;
  readonly cost_nanos: bigint | null;
  /** JSON of what was made. */
  readonly made: string | null;
  readonly warnings: string[];
  readonly expires_at: number | null;
  readonly deleted: boolean;
  /** The process that took its latest step; null: none has yet. */
  readonly worker_id: string | null;
  /** Processes that died one after the other while they rendered it, or fetched what was made. */
  readonly deaths: number;
}

export const chainOf = ({ chain }: Pick<JobRow, 'chain'>) => JSON.parse(chain) as readonly Link[];
export const endedOf = ({ ended }: Pick<JobRow, 'ended'>) => (ended === null ? null : (JSON.parse(ended) as Ended));
