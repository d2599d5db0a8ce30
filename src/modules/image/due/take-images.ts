// The vendor has made the images: each is fetched, looked at and kept, and only then has the job succeeded. What is fetched twice is the same
// image; what cannot be delivered costs its caller nothing.
import type { Readable } from 'node:stream';
import { billedFor } from '../../../jobs/bill.ts';
import { fetching } from '../../../jobs/due/steps.ts';
import { adapterOf, endWithout, goOnLater, positionOf, vendorWorks } from '../../../jobs/due/vendor-step.ts';
import { endJob } from '../../../jobs/end.ts';
import type { SucceededAt, VendorStep } from '../../../jobs/kind.ts';
import { gibDayNanos, storageCharge } from '../../../jobs/price.ts';
import { forgetUndelivered } from '../../../jobs/remove.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { Problem, problem } from '../../../problems/problem.ts';
import { type AttemptRow, endAttempt } from '../../../routing/attempts.ts';
import { bookSale } from '../../../routing/bills.ts';
import { AssetGone } from '../../../vendors/assets/port.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import { type StoredImage, wantedOf } from '../jobs/row.ts';
import { contentTypeOf } from '../pictures/images.ts';
import type { ImageFiles } from '../vendors/port.ts';

import { sealOf } from './keep-image.ts';
import type { Own } from './own.ts';

type Made = SucceededAt<ImageFiles>;

const IMAGE_BYTES_MAX = 64 * 1024 * 1024;

/** Where the `index`-th image of an attempt is kept. */
export const answerAsset = (job: JobRow, attemptId: string, index: number) =>
  `${job.account_id}/${job.job_id}.${attemptId}.${index}`;

type Fetched =
  | { readonly kind: 'kept'; readonly image: StoredImage }
  | { readonly kind: 'again' | 'unsound'; readonly message: string };

export async function takeImages(
  own: Own,
  vendorStep: VendorStep,
  attempt: AttemptRow,
  call: VendorCall,
  made: Made,
): Promise<void> {
  const { step, signal, lost } = vendorStep;
  const { shape, steps } = own.kind.tables;
  const what = fetching(shape);
  const job = await vendorWorks(vendorStep, what);
  step.doing = { what, pct: null };
  // Should the process die of it, that is seen.
  if (job === null || !(await steps.goesOn(own.core.db, step))) return;
  const now = { ...vendorStep, job };
  const images: StoredImage[] = [];
  const fetchCall = { ...call, signal: AbortSignal.any([signal, lost]) };
  for (const [i, url] of made.urls.slice(0, wantedOf(job).n).entries()) {
    const fetched = await fetchImage(own, job, attempt, fetchCall, { url, index: i });
    if (fetched.kind === 'again') return goOnLater(now, { what });
    if (fetched.kind !== 'kept') return unsound(now, attempt, fetched.message, made);
    images.push(fetched.image);
  }
  if (images.length === 0) return unsound(now, attempt, 'there is none.', made);
  await succeed(own, now, attempt, images, made);
}

async function fetchImage(
  own: Own,
  job: JobRow,
  attempt: AttemptRow,
  call: VendorCall,
  { url, index }: { readonly url: string; readonly index: number },
): Promise<Fetched> {
  const { assets, log } = own.core;
  const asset = answerAsset(job, attempt.attempt_id, index);
  // It came with the answer, or a step before has kept it and died before that was written.
  let bytes = await assets.read(asset).catch((error: unknown) => {
    if (error instanceof AssetGone) return null;
    throw error;
  });
  if (bytes === null) {
    const download = await adapterOf(own, attempt).download(call, url);
    if (download.kind !== 'opened') {
      log.info(
        { jobId: job.job_id, vendor: attempt.vendor, message: download.message },
        'an image could not be fetched',
      );
      return { kind: download.kind === 'unsound' ? 'unsound' : 'again', message: download.message };
    }
    bytes = await readAll(download.body);
    if (bytes === null) return { kind: 'again', message: "The vendor's file broke off, or is too long." };
    await assets.put(asset, bytes);
  }
  const found = await own.images
    .info({ accountId: job.account_id, signal: call.signal }, bytes, 'image')
    .catch((error: unknown) => {
      // What the machine has no time for now is looked at later.
      if (error instanceof Problem) return error;
      throw error;
    });
  if (found instanceof Problem)
    return { kind: found.code === 'VALIDATION_FAILED' ? 'unsound' : 'again', message: found.message };
  const { format, widthPx, heightPx } = found;
  return { kind: 'kept', image: { asset, ...sealOf(bytes), contentType: contentTypeOf(format), widthPx, heightPx } };
}

async function readAll(body: Readable): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      length += piece.length;
      // Leaving the loop ends the download.
      if (length > IMAGE_BYTES_MAX) return null;
      pieces.push(piece);
    }
  } catch {
    return null;
  }
  return Buffer.concat(pieces);
}

async function succeed(
  { core, kind, times }: Own,
  { host, job, nowMs }: VendorStep,
  attempt: AttemptRow,
  images: readonly StoredImage[],
  { bill }: Made,
): Promise<void> {
  const { account_id: accountId } = job;
  const { n } = wantedOf(job);
  // Fewer than were asked for cost as many.
  const due = images.length < n && bill === 'quote' ? { units: images.length } : bill;
  const { vendorNanos: billedNanos, charge } = billedFor(kind, job, positionOf(job, attempt), due);
  const bytes = images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const end = {
    state: 'succeeded',
    made: JSON.stringify({ images }),
    warnings: images.length < n ? [`The vendor made ${images.length} of ${n} images.`] : [],
    charge: { ...charge, ...storageCharge(job, bytes, gibDayNanos(core.prices, kind.storagePrice)) },
  } as const;
  const after = await endJob(host, job, end, {
    async also(tx, atMs) {
      await endAttempt(tx, accountId, attempt.attempt_id, atMs);
      await bookSale(tx, { accountId, vendor: attempt.vendor, billedNanos, capturedNanos: charge.workNanos }, atMs);
    },
  });
  if (after === null)
    return forgetUndelivered(
      host,
      job,
      images.map(({ asset }) => asset),
    );
  times.learnPace(job.model, n, nowMs() - (job.running_at ?? job.created_at));
}

function unsound(vendorStep: VendorStep, attempt: AttemptRow, reason: string, { bill }: Made): Promise<void> {
  const message = `What the vendor delivered is no sound image: ${reason}`;
  const end = { state: 'failed', problem: problem('VENDOR_ERROR', { detail: 'unsound_image', message }) } as const;
  return endWithout(vendorStep, attempt, end, bill, 'unsound');
}
