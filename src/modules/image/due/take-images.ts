// Delivery of images that a vendor has made: each is fetched, checked and stored (src/jobs/due/take.ts).
import type { Readable } from 'node:stream';
import { type Fetched, takeMade } from '../../../jobs/due/take.ts';
import { adapterOf } from '../../../jobs/due/vendor-step.ts';
import type { SucceededAt, VendorStep } from '../../../jobs/kind.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { sealOf } from '../../../jobs/seal.ts';
import { Problem } from '../../../problems/problem.ts';
import type { AttemptRow } from '../../../routing/attempts.ts';
import { AssetGone } from '../../../vendors/assets/port.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import { type StoredImage, wantedOf } from '../jobs/row.ts';
import { contentTypeOf } from '../pictures/images.ts';
import type { ImageFiles } from '../vendors/port.ts';
import type { Own } from './own.ts';

type Made = SucceededAt<ImageFiles>;

const IMAGE_BYTES_MAX = 64 * 1024 * 1024;

/** Where the `index`-th image of an attempt is kept. */
export const answerAsset = (job: JobRow, attemptId: string, index: number) =>
  `${job.account_id}/${job.job_id}.${attemptId}.${index}`;

export function takeImages(
  own: Own,
  vendorStep: VendorStep,
  attempt: AttemptRow,
  call: VendorCall,
  { urls, bill }: Made,
): Promise<void> {
  return takeMade<readonly StoredImage[]>(vendorStep, attempt, call, {
    bill,
    fetch: (job, fetchCall) => fetchImages(own, job, attempt, fetchCall, urls),
    deliver(job, images) {
      const { n } = wantedOf(job);
      return {
        made: JSON.stringify({ images }),
        assets: images.map(({ asset }) => asset),
        sizeBytes: images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        warnings: images.length < n ? [`The vendor made ${images.length} of ${n} images.`] : [],
        // Fewer than were asked for cost as many.
        bill: images.length < n && bill === 'quote' ? { units: images.length } : bill,
      };
    },
  });
}

async function fetchImages(
  own: Own,
  job: JobRow,
  attempt: AttemptRow,
  call: VendorCall,
  urls: readonly string[],
): Promise<Fetched<readonly StoredImage[]>> {
  const images: StoredImage[] = [];
  for (const [i, url] of urls.slice(0, wantedOf(job).n).entries()) {
    const fetched = await fetchImage(own, job, attempt, call, { url, index: i });
    if (fetched.kind !== 'kept') return fetched;
    images.push(fetched.stored);
  }
  return images.length === 0 ? { kind: 'unsound', message: 'there is none.' } : { kind: 'kept', stored: images };
}

async function fetchImage(
  own: Own,
  job: JobRow,
  attempt: AttemptRow,
  call: VendorCall,
  { url, index }: { readonly url: string; readonly index: number },
): Promise<Fetched<StoredImage>> {
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
  return { kind: 'kept', stored: { asset, ...sealOf(bytes), contentType: contentTypeOf(format), widthPx, heightPx } };
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
