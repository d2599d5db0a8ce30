// One look at one rule: its source is asked at the step, and what it answers is judged. Steps are the multiples of every_seconds: those that were
// missed are not made up, and none is looked at twice.

import { isConnectionError } from '../../../db/errors.ts';
import type { Services } from '../../../kit/services.ts';
import { Problem } from '../../../problems/problem.ts';
import { FAILURES_MAX, LOOK_MS_MAX } from '../limits.ts';
import { byOf, type RuleRow, seriesOf } from '../rules/row.ts';
import type { AccountTurns } from './account-turns.ts';
import type { EndedLook, Finding, LookEnds } from './end.ts';
import { type Condition, judge } from './judge.ts';
import { type Spreads, stepsOf } from './spread.ts';
import type { ClaimedLook } from './store.ts';

export interface Looking {
  readonly core: Services;
  /** Rules of an account are looked at one after the other: what a look takes is its own. */
  readonly turns: AccountTurns;
  readonly ends: LookEnds;
  readonly spreads: Spreads;
}

/** Throws when `signal` or `lost` ended it: the step is then for another attempt. */
export async function lookAt(
  looking: Looking,
  look: ClaimedLook,
  signal: AbortSignal,
  lost: AbortSignal,
): Promise<void> {
  const { core, ends, spreads, turns } = looking;
  const { row, claimedMs } = look;
  const everyMs = row.every_seconds * 1_000;
  const stepMs = Math.floor(claimedMs / everyMs) * everyMs;
  // It was made due between its steps. A clock that went back further than that begins its steps anew.
  if (row.looked_at !== null && row.looked_at >= stepMs && row.looked_at - stepMs <= everyMs)
    return ends.skip(look, stepMs + everyMs);
  const startMs = performance.now();
  const ended = AbortSignal.any([signal, lost]);
  const { found, tookMs } = await turns.run(look.accountId, () => measure(() => find(core, look, stepMs, ended)));
  ended.throwIfAborted();
  const spread = stepsOf(await spreads.of(core.db, look.accountId), tookMs, row.every_seconds);
  const nowMs = claimedMs + (performance.now() - startMs);
  const nextMs = (Math.floor(nowMs / everyMs) + 1) * everyMs;
  const end: Omit<EndedLook, 'finding'> = {
    look,
    stepMs,
    tookMs,
    spread,
    dueMs: Math.max(stepMs + spread * everyMs, nextMs),
    failures: 'passing' in found ? row.failures + 1 : 0,
    words: spread === 1 ? null : spreadWords(spread, row),
  };
  await ends.write({ ...end, finding: 'passing' in found ? passingFinding(found.passing, row) : found });
}

async function measure<T>(work: () => Promise<T>): Promise<{ readonly found: T; readonly tookMs: number }> {
  const startMs = performance.now();
  const found = await work();
  return { found, tookMs: Math.round((performance.now() - startMs) * 10) / 10 };
}

/** Passing: there was no room for it now. */
async function find(
  core: Services,
  { accountId, row }: ClaimedLook,
  atMs: number,
  signal: AbortSignal,
): Promise<Finding | { readonly passing: string }> {
  const source = core.alertSources.get(row.source);
  if (source === undefined) return { unknown: `This deployment has no ${row.source}.` };
  const by = byOf(row);
  const late = AbortSignal.timeout(LOOK_MS_MAX);
  try {
    const asked = { accountId, when: JSON.parse(row.fields), by, atMs, signal: AbortSignal.any([signal, late]) };
    const series = await source.look(asked);
    return { judged: judge(seriesOf(row), series, conditionOf(row, source.firesWhenThere === true), atMs) };
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return { unknown: `It takes longer than ${LOOK_MS_MAX / 1_000} s to look at.` };
    if (isConnectionError(error)) throw error;
    if (!(error instanceof Problem)) {
      core.log.error({ err: error, accountId, rule: row.rule }, 'a rule of alerts could not be looked at');
      return { passing: 'The service failed to look at it.' };
    }
    return error.retryable ? { passing: error.message } : { unknown: error.message };
  }
}

/** For want of room once or twice it is what it was; then it is unknown. */
function passingFinding(words: string, row: RuleRow): Finding {
  if (row.failures + 1 >= FAILURES_MAX || row.state === 'unknown') return { unknown: words };
  const series = seriesOf(row);
  return { judged: { state: row.state, value: row.value, series, more: row.more_series, changes: [] } };
}

function conditionOf(row: RuleRow, firesWhenThere: boolean): Condition {
  const [forMs, keepMs] = [row.for_seconds * 1_000, row.keep_firing_seconds * 1_000];
  return { above: row.above, below: row.below, forMs, keepMs, by: byOf(row), firesWhenThere };
}

function spreadWords(spread: number, { every_seconds: seconds }: RuleRow): string {
  return `Looked at every ${spread * seconds} seconds, in place of every ${seconds}: all rules of an account together may take a second of each minute.`;
}
