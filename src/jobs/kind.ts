// A kind of job as its module defines it: its tables, events and prices, and the operations that only the module can do.

import type { PriceName } from '../kit/capability.ts';
import type { Services } from '../kit/services.ts';
import type { AttemptRow } from '../routing/attempts.ts';
import type { JobProgress } from '../vendors/call/job.ts';
import type { VendorCall } from '../vendors/call/port.ts';
import type { ModelRow } from '../vendors/file/port.ts';
import type { WorkTimes } from './due/pace.ts';
import type { Step } from './due/step.ts';
import type { StepStore } from './due/steps.ts';
import type { JobWebhook, Shown } from './record.ts';
import type { JobRow } from './row.ts';
import type { JobShape } from './shape.ts';
import type { JobStore } from './store.ts';
import type { JobWebhooks } from './webhooks.ts';

/** The statements of a module's jobs. */
export interface JobTables {
  readonly shape: JobShape;
  readonly store: JobStore;
  readonly steps: StepStore;
  readonly webhooks: JobWebhooks;
}

export interface JobKind {
  readonly tables: JobTables;
  /** What keeping it costs, by the GiB-day; also what it is booked as. */
  readonly storagePrice: PriceName;
  /** What tells its end. */
  readonly events: { readonly completed: string; readonly failed: string };
  /** What was asked for and is billed: seconds, or images. */
  unitsOf(job: Pick<JobRow, 'request'>): number;
  /** The job as it is shown. */
  record(job: JobRow, webhooks: readonly JobWebhook[], shown: Shown): object;
  /** The assets that it has. */
  assetsOf(job: JobRow): string[];
  /** Its `request` without words and pictures. */
  emptied(job: JobRow): string;
}

/** What only the module knows of work at vendors. `Material`: what a vendor gets to work with, beside the request. */
export interface VendorWork<Material = unknown, Made = unknown> {
  /** Throws a Problem for what cannot be had. */
  material(job: JobRow, signal: AbortSignal): Promise<Material>;
  /** What an adapter's `submit` takes, once the attempt has its random token. */
  workFor(job: JobRow, row: ModelRow, material: Material, asked: Asked): Promise<(token: string) => unknown>;
  /** As the attempt keeps it: without the words and pictures, which stand in the job until its owner deletes them. */
  requestOf(job: JobRow, row: ModelRow): SentRequest;
  /** Fetches what was made, looks through it, keeps it and ends the job. */
  take(step: VendorStep, attempt: AttemptRow, call: VendorCall, made: SucceededAt<Made>): Promise<void>;
  /** Keeps what came with the answer to a submission, under the attempt. Absent: its adapters answer with nothing. */
  keepAnswer?(job: JobRow, attemptId: string, paths: readonly string[]): Promise<void>;
}

export type SucceededAt<Made> = Extract<JobProgress<Made>, { readonly kind: 'succeeded' }>;

export interface Asked {
  readonly vendor: string;
  readonly nowMs: number;
}

export interface SentRequest {
  readonly options: Readonly<Record<string, unknown>>;
}

/** What a module keeps of its jobs in one process. */
export interface JobHost {
  readonly core: Services;
  readonly kind: JobKind;
  readonly vendorWork: VendorWork;
  /** How long models take, as this process has seen it. */
  readonly times: WorkTimes;
  /** Where vendors can reach this service; null: nowhere. */
  readonly publicUrl: string | null;
  readonly shown: Omit<Shown, 'nowMs'>;
  /** How long is kept what is not stored. */
  readonly pickupMs: number;
}

/** A step of a job at vendors outside. */
export interface VendorStep {
  readonly host: JobHost;
  readonly step: Step;
  readonly job: JobRow;
  /** By the clock of the database. */
  nowMs(): number;
  /** Aborts at the stop of the process. */
  readonly signal: AbortSignal;
  /** Aborts when another step has the job, or it has ended, of a step that says what it is doing. */
  readonly lost: AbortSignal;
}
