// Deletes a job's bytes, words and images, for the delete operation and for retention. Assets are removed after that commit; those left by a
// crash are orphans, which the sweep of assets removes.

import type { Transaction } from '../db/database.ts';
import type { Services } from '../kit/services.ts';
import { cancelIn, type EndOfCancel } from './cancel.ts';
import type { Ending } from './end.ts';
import type { JobHost, JobKind } from './kind.ts';
import { isLive, type JobRow } from './row.ts';

/** Deletes the job for its owner; what it costs is still settled. Answers the assets to be removed after the commit. */
export async function removeJob(
  tx: Transaction,
  ending: Ending,
  job: JobRow,
  endOf: EndOfCancel,
  requestId: string,
): Promise<string[]> {
  const { kind } = ending;
  const now = await kind.tables.store.lock(tx, job.account_id, job.job_id);
  if (now === null || now.deleted) return [];
  const after = isLive(now.state) ? await cancelIn(tx, ending, now, endOf, requestId) : now;
  await purge(tx, kind, after, true);
  return kind.assetsOf(after);
}

/** Forgets the bytes and words of a job. */
export async function purge(tx: Transaction, kind: JobKind, job: JobRow, deleted: boolean): Promise<void> {
  await kind.tables.store.purge(tx, job, kind.emptied(job), deleted);
}

/** Removes assets that no job names any more; what fails is left for the sweep of orphans. */
export async function forgetAssets(
  { assets, log }: Pick<Services, 'assets' | 'log'>,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    await assets.remove(key).catch((err: unknown) => log.warn({ err, key }, 'an asset could not be removed'));
  }
}

/** Removes what was kept for an end that came too late. While the job lives another process may be about to deliver the same bytes. */
export async function forgetUndelivered(
  { core, kind }: Pick<JobHost, 'core' | 'kind'>,
  { account_id, job_id }: JobRow,
  keys: readonly string[],
): Promise<void> {
  const job = await kind.tables.store.read(core.db, account_id, job_id);
  if (job !== null && isLive(job.state)) return;
  const named = job === null ? [] : kind.assetsOf(job);
  await forgetAssets(
    core,
    keys.filter((key) => !named.includes(key)),
  );
}
