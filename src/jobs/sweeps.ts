// Retention of jobs: the output, with its words and images, is deleted when its retention ends; the record 90 days after the job's end.
import type { Sweep } from '../core/background/sweeper/sweep.ts';
import { mendEach, removeOldRows } from '../core/background/sweeper/sweep.ts';
import { textArray } from '../db/arrays.ts';
import { type Statement, statement } from '../db/statement.ts';
import type { Services } from '../kit/services.ts';
import { DAY_MS } from '../lib/time.ts';
import type { JobHost, JobKind } from './kind.ts';
import { RECORD_DAYS } from './limits.ts';
import { forgetAssets, purge } from './remove.ts';

const PER_RUN = 100;
const ORPHAN_MS = DAY_MS;

/** Called once, at import: its statements are of the module's schema. */
export function jobSweeps(name: string): (host: JobHost) => Sweep[] {
  const { findExpired, findOld, removeOld } = statementsOf(name);
  return (host) => {
    const from = { after: '' };
    return [
      {
        name: `${name}.orphans`,
        intervalMs: 600_000,
        run: (signal) => removeJobOrphans(host.core, host.kind, from, signal),
      },
      { name: `${name}.expired`, intervalMs: 30_000, run: (signal) => removeExpired(host, findExpired, signal) },
      {
        name: `${name}.records`,
        intervalMs: 60_000,
        run: removeOldRows<{ account_id: string; id: string }>(host.core.db, {
          find: findOld,
          remove: removeOld,
          keys: (rows) => [textArray(rows.map(({ id }) => id))],
        }),
      },
    ];
  };
}

function statementsOf(name: string) {
  return {
    findExpired: statement(
      `${name}_find_expired`,
      `/* fan-out: what jobs made whose time is over */
   SELECT j.account_id, j.job_id FROM ${name}.job j WHERE j.expires_at <= core.clock_now() ORDER BY j.expires_at LIMIT $1`,
    ),
    findOld: statement(
      `${name}_find_old`,
      `/* fan-out: records of jobs that ended long ago */
   SELECT j.account_id, j.job_id AS id FROM ${name}.job j
    WHERE j.finished_at <= core.clock_now() - interval '${RECORD_DAYS} days' AND j.expires_at IS NULL AND j.cost_nanos IS NOT NULL
    ORDER BY j.finished_at LIMIT $1`,
    ),
    removeOld: statement(
      `${name}_remove_old`,
      `DELETE FROM ${name}.job
    WHERE account_id = $1 AND job_id = ANY($2::text[]) AND expires_at IS NULL AND cost_nanos IS NOT NULL`,
    ),
  };
}

/** What was put a day ago and is of no job: what a crash left. */
export function removeJobOrphans(
  { assets, db }: Pick<Services, 'assets' | 'db'>,
  kind: JobKind,
  from: { after: string },
  signal: AbortSignal,
): Promise<boolean> {
  const beforeMs = Date.now() - ORPHAN_MS;
  const { shape, store } = kind.tables;
  const ofJob = new RegExp(`^([^/]+)/(${shape.idPrefix}[^.]+)\\.`);
  /** Keys are `account/job.…`; what was not put by us here is left alone. */
  const isNamed = async (key: string) => {
    const [, accountId, jobId] = ofJob.exec(key) ?? [];
    if (accountId === undefined || jobId === undefined || !store.isId(jobId)) return true;
    const job = await store.read(db, accountId, jobId);
    return job !== null && kind.assetsOf(job).includes(key);
  };
  return assets.removeOrphans({ prefix: 'acct_', beforeMs, from, isNamed }, signal);
}

async function removeExpired({ core, kind }: JobHost, find: Statement, signal: AbortSignal): Promise<boolean> {
  const { db } = core;
  const { rows } = await db.query<{ account_id: string; job_id: string }>(find, [PER_RUN]);
  const finished = await mendEach(rows, signal, async ({ account_id, job_id }) => {
    const assets = await db.transaction(async (tx) => {
      const job = await kind.tables.store.lock(tx, account_id, job_id);
      if (job === null) return [];
      await purge(tx, kind, job, false);
      return kind.assetsOf(job);
    });
    await forgetAssets(core, assets);
  });
  return finished && rows.length === PER_RUN;
}
