// Progress of a job: as the vendor reports it, else estimated from the recent duration of such work. Each step writes it, never lower than
// before; reads return the stored value.
import { textArray } from '../db/arrays.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { Coalescer } from '../lib/coalesce.ts';
import type { JobTables } from './kind.ts';
import { isLive, type JobRow } from './row.ts';

/** Below the end: 100 is for what has succeeded. */
const UNENDED_MAX = 99;

/** What of a job says how far it is. */
type Going = Pick<JobRow, 'job_id' | 'state' | 'progress_pct' | 'current_step' | 'running_at' | 'expected_ms'>;

// Calls that share one statement.
const READ_TOGETHER = 256;

/** As `video.status` answers it. */
export type Progress = Pick<JobRow, 'job_id' | 'state'> & ReturnType<typeof progressOf>;

/** Reads how far jobs are, by account and id; null: the account has no such job, or deleted it. Many ask again and again. */
export function progressReader(
  db: Queryable,
  { shape: { name }, store }: JobTables,
): Coalescer<string, Progress | null> {
  const selectGoing = statement(
    `${name}_select_progress`,
    `SELECT j.job_id, j.state, j.progress_pct, j.current_step, j.running_at, j.expected_ms, core.clock_now() AS now
     FROM ${name}.job j
    WHERE j.account_id = $1 AND j.job_id = ANY($2::text[]) AND NOT j.deleted`,
  );
  return new Coalescer({
    batchMax: READ_TOGETHER,
    async run(accountId, ids) {
      const sound = [...new Set(ids)].filter((id) => store.isId(id));
      const values = [accountId, textArray(sound)];
      const { rows } =
        sound.length === 0 ? { rows: [] } : await db.query<Going & { readonly now: number }>(selectGoing, values);
      const found = new Map(
        rows.map((row) => [row.job_id, { job_id: row.job_id, state: row.state, ...progressOf(row, row.now) }]),
      );
      return ids.map((id) => found.get(id) ?? null);
    },
  });
}

/** How far it is at `nowMs`. */
export function progressOf(job: Going, nowMs: number) {
  if (job.state === 'succeeded') return { progress_pct: 100, eta_seconds: 0, current_step: null };
  if (!isLive(job.state)) return { progress_pct: job.progress_pct, eta_seconds: null, current_step: null };
  const pct = job.progress_pct ?? (job.running_at === null ? 0 : null);
  return { progress_pct: pct, eta_seconds: secondsLeft(job, pct, nowMs), current_step: job.current_step };
}

/** What a step that has begun or looked writes: `saidPct` is the vendor's word, null when it says nothing. */
export function progressAfter(
  job: Pick<JobRow, 'progress_pct' | 'running_at' | 'expected_ms'>,
  saidPct: number | null,
  nowMs: number,
) {
  const elapsed =
    job.running_at === null || job.expected_ms === null
      ? null
      : Math.floor((100 * (nowMs - job.running_at)) / Math.max(1, Number(job.expected_ms)));
  const pct = saidPct ?? elapsed;
  if (pct === null) return job.progress_pct;
  return Math.max(job.progress_pct ?? 0, Math.min(UNENDED_MAX, Math.max(0, Math.floor(pct))));
}

function secondsLeft({ running_at, expected_ms }: Going, pct: number | null, nowMs: number): number | null {
  if (running_at === null) return expected_ms === null ? null : Math.ceil(Number(expected_ms) / 1_000);
  const elapsedMs = Math.max(0, nowMs - running_at);
  if (pct !== null && pct > 0) return Math.ceil((elapsedMs * (100 / pct - 1)) / 1_000);
  return expected_ms === null ? null : Math.max(0, Math.ceil((Number(expected_ms) - elapsedMs) / 1_000));
}
