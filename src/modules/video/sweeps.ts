// Retention: what a job made goes when its time is over, with its words and images; records go 90 days after the end.

import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { mendEach, removeOldRows } from '../../core/background/sweeper/sweep.ts';
import type { Core } from '../../core/context.ts';
import { textArray } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { DAY_MS } from '../../lib/time.ts';
import { assetsOf, forgetAssets, purge } from './jobs/remove.ts';
import { jobIdPattern, lockJob, readJob } from './jobs/store.ts';
import { RECORD_DAYS } from './limits.ts';
import type { VideoState } from './state.ts';

const PER_RUN = 100;
const ORPHAN_MS = DAY_MS;

const findExpired = statement(
  'video_find_expired',
  `/* fan-out: videos whose time is over */
   SELECT j.account_id, j.job_id FROM video.job j WHERE j.expires_at <= core.clock_now() ORDER BY j.expires_at LIMIT $1`,
);
const findOld = statement(
  'video_find_old',
  `/* fan-out: records of jobs that ended long ago */
   SELECT j.account_id, j.job_id AS id FROM video.job j
    WHERE j.finished_at <= core.clock_now() - interval '${RECORD_DAYS} days' AND j.expires_at IS NULL AND j.cost_nanos IS NOT NULL
    ORDER BY j.finished_at LIMIT $1`,
);
const removeOld = statement(
  'video_remove_old',
  `DELETE FROM video.job
    WHERE account_id = $1 AND job_id = ANY($2::text[]) AND expires_at IS NULL AND cost_nanos IS NOT NULL`,
);

export function videoSweeps(state: VideoState): Sweep[] {
  const { db } = state.core;
  const from = { after: '' };
  return [
    { name: 'video.orphans', intervalMs: 600_000, run: (signal) => removeOrphans(state.core, from, signal) },
    { name: 'video.expired', intervalMs: 30_000, run: (signal) => removeExpired(state, signal) },
    {
      name: 'video.records',
      intervalMs: 60_000,
      run: removeOldRows<{ account_id: string; id: string }>(db, {
        find: findOld,
        remove: removeOld,
        keys: (rows) => [textArray(rows.map(({ id }) => id))],
      }),
    },
  ];
}

/** What was put a day ago and is of no job: what a crash left. */
export function removeOrphans(
  { assets, db }: Pick<Core, 'assets' | 'db'>,
  from: { after: string },
  signal: AbortSignal,
): Promise<boolean> {
  const beforeMs = Date.now() - ORPHAN_MS;
  return assets.removeOrphans({ prefix: 'acct_', beforeMs, from, isNamed: (key) => isNamed(db, key) }, signal);
}

/** Keys are `account/job.…`; what was not put by us here is left alone. */
async function isNamed(db: Database, key: string): Promise<boolean> {
  const [, accountId, jobId] = /^([^/]+)\/(vid_[^.]+)\./.exec(key) ?? [];
  if (accountId === undefined || jobId === undefined || !jobIdPattern.test(jobId)) return true;
  const job = await readJob(db, accountId, jobId);
  return job !== null && assetsOf(job).includes(key);
}

async function removeExpired(state: VideoState, signal: AbortSignal): Promise<boolean> {
  const { db } = state.core;
  const { rows } = await db.query<{ account_id: string; job_id: string }>(findExpired, [PER_RUN]);
  const finished = await mendEach(rows, signal, async ({ account_id, job_id }) => {
    const assets = await db.transaction(async (tx) => {
      const job = await lockJob(tx, account_id, job_id);
      if (job === null) return [];
      await purge(tx, job, false);
      return assetsOf(job);
    });
    await forgetAssets(state.core, assets);
  });
  return finished && rows.length === PER_RUN;
}
