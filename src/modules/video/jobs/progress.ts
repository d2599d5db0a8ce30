// How far a job is: what the vendor says, else by the time that such work took lately. Written by each step and never lower than
// before; what is read is what was written.
import { isLive, type JobRow } from './row.ts';

/** Below the end: 100 is for what has succeeded. */
const UNENDED_MAX = 99;

/** As `video.status` shows it. */
export function progressOf(job: JobRow, nowMs: number) {
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

function secondsLeft({ running_at, expected_ms }: JobRow, pct: number | null, nowMs: number): number | null {
  if (running_at === null) return expected_ms === null ? null : Math.ceil(Number(expected_ms) / 1_000);
  const elapsedMs = Math.max(0, nowMs - running_at);
  if (pct !== null && pct > 0) return Math.ceil((elapsedMs * (100 / pct - 1)) / 1_000);
  return expected_ms === null ? null : Math.max(0, Math.ceil((Number(expected_ms) - elapsedMs) / 1_000));
}
