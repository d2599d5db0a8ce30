// Fetches a vendor's finished output, validates and stores it; only then has the job succeeded. A second fetch gives the same result. The caller
// pays nothing for output that cannot be delivered.

import { problem } from '../../problems/problem.ts';
import { type AttemptRow, endAttempt } from '../../routing/attempts.ts';
import { bookSale } from '../../routing/bills.ts';
import type { JobBill } from '../../vendors/call/job.ts';
import type { VendorCall } from '../../vendors/call/port.ts';
import { billedFor } from '../bill.ts';
import { endJob } from '../end.ts';
import type { VendorStep } from '../kind.ts';
import { gibDayNanos, storageCharge } from '../price.ts';
import { forgetUndelivered } from '../remove.ts';
import type { JobRow } from '../row.ts';
import { fetching } from './steps.ts';
import { endWithout, goOnLater, positionOf, vendorWorks } from './vendor-step.ts';

/** What is kept of it, or why it is not: fetched again later, or no sound one. */
export type Fetched<Stored> =
  | { readonly kind: 'kept'; readonly stored: Stored }
  | { readonly kind: 'again' | 'unsound'; readonly message: string };

export interface Delivered {
  /** `made` of the job's row. */
  readonly made: string;
  /** To be removed when the job had another end. */
  readonly assets: readonly string[];
  readonly sizeBytes: number;
  readonly warnings: readonly string[];
  readonly bill: JobBill;
}

export interface Taking<Stored> {
  readonly bill: JobBill;
  fetch(job: JobRow, call: VendorCall): Promise<Fetched<Stored>>;
  deliver(job: JobRow, stored: Stored): Delivered;
}

export async function takeMade<Stored>(
  vendorStep: VendorStep,
  attempt: AttemptRow,
  call: VendorCall,
  taking: Taking<Stored>,
): Promise<void> {
  const { host, step, signal, lost } = vendorStep;
  const { shape, steps } = host.kind.tables;
  const what = fetching(shape);
  const job = await vendorWorks(vendorStep, what);
  step.doing = { what, pct: null };
  // Should the process die of it, that is seen.
  if (job === null || !(await steps.goesOn(host.core.db, step))) return;
  const now = { ...vendorStep, job };
  const fetched = await taking.fetch(job, { ...call, signal: AbortSignal.any([signal, lost]) });
  if (fetched.kind === 'kept') await succeed(now, attempt, taking.deliver(job, fetched.stored));
  else if (fetched.kind === 'again') await goOnLater(now, { what });
  else await unsound(now, attempt, fetched.message, taking.bill);
}

async function succeed(
  { host, job, nowMs }: VendorStep,
  attempt: AttemptRow,
  { made, assets, sizeBytes, warnings, bill }: Delivered,
): Promise<void> {
  const { core, kind, times } = host;
  const { account_id: accountId } = job;
  const { vendorNanos: billedNanos, charge } = billedFor(kind, job, positionOf(job, attempt), bill);
  const stored = storageCharge(job, sizeBytes, gibDayNanos(core.prices, kind.storagePrice));
  const end = { state: 'succeeded', made, warnings: [...warnings], charge: { ...charge, ...stored } } as const;
  const after = await endJob(host, job, end, {
    async also(tx, atMs) {
      await endAttempt(tx, accountId, attempt.attempt_id, atMs);
      await bookSale(tx, { accountId, vendor: attempt.vendor, billedNanos, capturedNanos: charge.workNanos }, atMs);
    },
  });
  if (after === null) return forgetUndelivered(host, job, assets);
  times.learnPace(job.model, kind.unitsOf(job), nowMs() - (job.running_at ?? job.created_at));
}

function unsound(vendorStep: VendorStep, attempt: AttemptRow, reason: string, bill: JobBill): Promise<void> {
  const { name: noun } = vendorStep.host.kind.tables.shape;
  const message = `What the vendor delivered is no sound ${noun}: ${reason}`;
  const end = { state: 'failed', problem: problem('VENDOR_ERROR', { detail: `unsound_${noun}`, message }) } as const;
  return endWithout(vendorStep, attempt, end, bill, 'unsound');
}
