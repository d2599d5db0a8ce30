// Time series of a queue's samples, in whole steps. Between samples an empty queue stayed empty; for a queue that held messages, the time
// without samples is unknown.
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { sequenceAt, sequenceMs } from '../../../lib/sequence.ts';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS } from '../../../lib/time.ts';
import { SAMPLE_DAYS } from './take.ts';

/** The longest periods that are told in steps of so long: at most 400 of them. */
const steps = [
  { lengthMs: MINUTE_MS, periodMs: 6 * HOUR_MS },
  { lengthMs: 5 * MINUTE_MS, periodMs: 33 * HOUR_MS },
  { lengthMs: 30 * MINUTE_MS, periodMs: SAMPLE_DAYS * DAY_MS },
] as const;
/** A minute's sample is there so long after its end. */
const LAG_MS = 15_000;

// The milliseconds of a number stand in its upper bits.
const selectSteps = statement(
  'sample_steps',
  `SELECT (s.seq >> 22) / $5::bigint AS step, sum(s.published)::bigint AS published, sum(s.acknowledged)::bigint AS acknowledged,
          max(s.depth) AS depth, max(s.oldest_age_seconds) AS age, (array_agg(s.depth ORDER BY s.seq DESC))[1] AS last_depth
     FROM queue.sample s
    WHERE s.account_id = $1 AND s.queue_id = $2 AND s.seq >= $3 AND s.seq < $4
    GROUP BY 1`,
);
const selectDepthBefore = statement(
  'sample_depth_before',
  `SELECT s.depth FROM queue.sample s WHERE s.account_id = $1 AND s.queue_id = $2 AND s.seq < $3 ORDER BY s.seq DESC LIMIT 1`,
);

interface StepRow {
  readonly step: bigint;
  readonly published: bigint;
  readonly acknowledged: bigint;
  readonly depth: bigint;
  readonly age: number;
  readonly last_depth: bigint;
}

export interface SamplePeriod {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Whole steps within the 7 days that are kept, up to the last one that is sampled as a whole. */
export function samplePeriod(fromMs: number | null, toMs: number | null, nowMs: number): SamplePeriod {
  const sampledMs = Math.floor((nowMs - LAG_MS) / MINUTE_MS) * MINUTE_MS;
  const to = Math.min(toMs ?? sampledMs, sampledMs);
  const from = Math.max(fromMs ?? to - HOUR_MS, sampledMs - SAMPLE_DAYS * DAY_MS);
  const step = steps.find(({ periodMs }) => to - from <= periodMs) ?? steps[2];
  const whole = (ms: number) => Math.floor(ms / step.lengthMs) * step.lengthMs;
  return { fromMs: whole(from), toMs: whole(to), stepMs: step.lengthMs };
}

/** A point for each step. */
export async function readSamples(
  db: Queryable,
  { account_id, queue_id }: { readonly account_id: string; readonly queue_id: bigint },
  { fromMs, toMs, stepMs }: SamplePeriod,
) {
  const from = [account_id, queue_id, sequenceAt(fromMs)];
  const [found, before] = await Promise.all([
    db.query<StepRow>(selectSteps, [...from, sequenceAt(toMs), stepMs]),
    db.query<{ depth: bigint }>(selectDepthBefore, from),
  ]);
  const byStart = new Map(found.rows.map((row) => [sequenceMs(0n) + Number(row.step) * stepMs, row]));
  let isEmpty = (before.rows[0]?.depth ?? 0n) === 0n;
  const items: Sample[] = [];
  for (let startMs = fromMs; startMs < toMs; startMs += stepMs) {
    const row = byStart.get(startMs);
    items.push(row === undefined ? emptySample(startMs, isEmpty) : sampleOf(startMs, row));
    if (row !== undefined) isEmpty = row.last_depth === 0n;
  }
  return items;
}

interface Sample {
  readonly at: string;
  readonly published: number | null;
  readonly acknowledged: number | null;
  readonly depth: number | null;
  readonly oldest_message_age_seconds: number | null;
}

function sampleOf(startMs: number, { published, acknowledged, depth, age }: StepRow): Sample {
  return {
    at: iso(startMs),
    published: Number(published),
    acknowledged: Number(acknowledged),
    depth: Number(depth),
    oldest_message_age_seconds: age,
  };
}

function emptySample(startMs: number, isEmpty: boolean): Sample {
  const value = isEmpty ? 0 : null;
  return {
    at: iso(startMs),
    published: value,
    acknowledged: value,
    depth: value,
    oldest_message_age_seconds: value,
  };
}
