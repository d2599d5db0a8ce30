// The plan of a job, for every kind: candidate vendors, the amount of the hold, and the deadline.
import type { Candidate } from '../routing/choose.ts';
import { type ModelRow, SANDBOX } from '../vendors/file/port.ts';
import { storagePrice } from './price.ts';

export interface JobPlan {
  readonly chain: readonly [Candidate, ...Candidate[]];
  /** The most that the job may cost, storage included; nano-USD. */
  readonly heldNanos: bigint;
  readonly storageNanos: bigint;
  readonly deadlineMs: number;
  readonly warnings: readonly string[];
  readonly isSandbox: boolean;
}

interface PlanParts {
  /** What the hold assumes that is stored, and for how long; 0 days: nothing is. */
  readonly assumedBytes: number;
  readonly retentionDays: number;
  /** Of the price book. */
  readonly gibDayNanos: bigint;
  readonly deadlineMinutesOf: (row: ModelRow) => number;
  readonly warnings: readonly string[];
}

export function planOf(
  chain: JobPlan['chain'],
  { assumedBytes, retentionDays, gibDayNanos, deadlineMinutesOf, warnings }: PlanParts,
): JobPlan {
  const storageNanos = storagePrice(assumedBytes, retentionDays, gibDayNanos).nanos;
  const highest = chain.reduce((most, { quoteNanos }) => (quoteNanos > most ? quoteNanos : most), 0n);
  return {
    chain,
    heldNanos: highest + storageNanos,
    storageNanos,
    deadlineMs: Math.max(...chain.map(({ row }) => deadlineMinutesOf(row))) * 60_000,
    warnings,
    isSandbox: chain[0].vendor === SANDBOX,
  };
}
