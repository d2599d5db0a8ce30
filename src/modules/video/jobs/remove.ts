// What delete and retention take away: the bytes of a job, its words and its images. Assets are removed after the commit that forgets
// them; what a crash leaves of them is an orphan, which the sweep of assets removes.

import type { Core } from '../../../core/context.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { cancelIn, type EndOfCancel } from './cancel.ts';
import type { Ending } from './end.ts';
import { isLive, type JobRow, storedVideoOf, type Wanted, wantedOf, wantedText } from './row.ts';
import { lockJob, readJob } from './store.ts';

const purgeRow = statement(
  'video_purge_job',
  `UPDATE video.job SET request = $3, film = NULL, expires_at = NULL, deleted = deleted OR $4
    WHERE account_id = $1 AND job_id = $2`,
);

/** The assets that a job has, its reference image included. */
export function assetsOf(job: JobRow): string[] {
  const video = storedVideoOf(job);
  const { image } = wantedOf(job);
  const made = video === null ? [] : [video.asset, ...(video.thumbnail === null ? [] : [video.thumbnail.asset])];
  return image !== null && 'asset' in image ? [...made, image.asset] : made;
}

/** Deletes the job for its owner; what it costs is still settled. Answers the assets to be removed after the commit. */
export async function removeJob(
  tx: Transaction,
  ending: Ending,
  job: JobRow,
  endOf: EndOfCancel,
  requestId: string,
): Promise<string[]> {
  const now = await lockJob(tx, job.account_id, job.job_id);
  if (now === null || now.deleted) return [];
  const after = isLive(now.state) ? await cancelIn(tx, ending, now, endOf, requestId) : now;
  await purge(tx, after, true);
  return assetsOf(after);
}

/** Forgets the bytes and words of a job. */
export async function purge(tx: Transaction, job: JobRow, deleted: boolean): Promise<void> {
  const emptied: Wanted = { ...wantedOf(job), prompt: '', negativePrompt: null, image: null };
  await tx.query(purgeRow, [job.account_id, job.job_id, wantedText(emptied), deleted]);
}

/** Removes assets that no job names any more; what fails is left for the sweep of orphans. */
export async function forgetAssets(
  { assets, log }: Pick<Core, 'assets' | 'log'>,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    await assets.remove(key).catch((err: unknown) => log.warn({ err, key }, 'an asset could not be removed'));
  }
}

/** Removes what was kept for an end that came too late. While the job lives another process may be about to deliver the same bytes. */
export async function forgetUndelivered(
  core: Core,
  { account_id, job_id }: JobRow,
  keys: readonly string[],
): Promise<void> {
  const job = await readJob(core.db, account_id, job_id);
  if (job !== null && isLive(job.state)) return;
  const named = job === null ? [] : assetsOf(job);
  await forgetAssets(
    core,
    keys.filter((key) => !named.includes(key)),
  );
}
