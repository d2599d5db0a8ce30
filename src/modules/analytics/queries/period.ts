// Period of a query, and the limits under which a query runs: number of events, run time, concurrency.
import Type from 'typebox';
import type { BlockRef, ScanTask } from '../../../blocks/block.ts';
import { reckon } from '../../../blocks/summaries.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { CallContext } from '../../../kit/services.ts';
import { parseInstant } from '../../../lib/instant.ts';
import { DAY_MS, startOfDay } from '../../../lib/time.ts';
import { Problem } from '../../../problems/problem.ts';
import { QUERY_EVENTS_MAX, QUERY_MS_MAX } from '../limits.ts';
import type { TableParts } from '../people/int-table.ts';
import type { Known } from '../people/joins.ts';
import { problem } from '../problems.ts';
import type { AnalyticsState } from '../state.ts';

const DAYS_USUAL = 7;
const RETRY_AFTER_MS = 1_000;

export const periodFields = {
  from: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'First moment; the start of the day seven days before to when absent.',
    }),
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'End, not included; now when absent.' })),
  include_bots: Type.Optional(Type.Boolean({ description: 'Whether events of bots count; false when absent.' })),
};

export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Throws INVALID_REQUEST for a period without time. */
export async function periodOf(
  { core }: CallContext,
  { from, to }: { readonly from?: string; readonly to?: string },
): Promise<Period> {
  const toMs = to === undefined ? (await clockNow(core.db)) + 1 : (parseInstant(to) as number);
  const fromMs = from === undefined ? startOfDay(toMs - DAYS_USUAL * DAY_MS) : (parseInstant(from) as number);
  if (fromMs >= toMs) throw problem('INVALID_REQUEST', { param: 'to', message: 'to must be later than from.' });
  return { fromMs, toMs };
}

/** What every task about counts gets. */
export interface CountArgs {
  readonly fromMs: number;
  readonly toMs: number;
  readonly includeBots: boolean;
  readonly joins: TableParts;
}

export interface Question {
  readonly ctx: CallContext;
  readonly state: AnalyticsState;
  readonly period: Period;
  readonly known: Known;
  readonly signal: AbortSignal;
}

/** Asks with a place, a clock and the people as they are now. Throws CONCURRENCY_LIMITED, OVERLOADED, QUERY_TOO_LARGE. */
export async function ask<T>(
  ctx: CallContext,
  state: AnalyticsState,
  period: Period,
  answer: (question: Question) => Promise<T>,
): Promise<T> {
  const leave = await takePlace(ctx);
  const clock = AbortSignal.timeout(QUERY_MS_MAX);
  const signal = AbortSignal.any([ctx.signal, clock]);
  try {
    const keptMs = await state.store.firstKeptMs(ctx.accountId);
    const kept = { ...period, fromMs: Math.max(period.fromMs, keptMs) };
    // Before the blocks are listed: of an event that is found, the people are known that it was stored with.
    const known = await state.joins.of(ctx.core.db, ctx.accountId, signal);
    return await answer({ ctx, state, period: kept, known, signal });
  } catch (error) {
    if (!clock.aborted || error instanceof Problem) throw error;
    throw tooLate(error);
  } finally {
    leave();
  }
}

/** Of a query that ran out of its time, or of that of a thread. */
export function tooLate(cause?: unknown): Problem {
  const message = `The query took longer than ${QUERY_MS_MAX / 1_000} s.`;
  return problem('QUERY_TOO_LARGE', { detail: 'time', message, cause });
}

/** Answers what gives it back. Throws CONCURRENCY_LIMITED. */
async function takePlace({ core: { underWay, bounds }, accountId }: CallContext): Promise<() => void> {
  const name = `analytics queries of ${accountId}`;
  const max = bounds.account.analyticsQueriesAtOnce;
  if (await underWay.begin(name, max)) return () => underWay.end(name);
  const message = `An account may run ${max} analytics queries at once: wait for one to end.`;
  throw problem('CONCURRENCY_LIMITED', { message, retryAfterMs: RETRY_AFTER_MS });
}

/** The blocks of the period. */
export function blocksOf({ ctx, state, period }: Question): Promise<BlockRef[]> {
  return state.store.list(ctx.accountId, period);
}

/** Throws QUERY_TOO_LARGE when they hold too many events. */
function requireReadable(refs: readonly BlockRef[]): void {
  const events = refs.reduce((sum, { records }) => sum + records, 0);
  if (events <= QUERY_EVENTS_MAX) return;
  const message = `The period has ${events} events; a query reads at most ${QUERY_EVENTS_MAX}.`;
  throw problem('QUERY_TOO_LARGE', { detail: 'events', message });
}

/** What a task makes of blocks, piece by piece. */
export function scan<Args, Part>(
  { ctx, state, signal }: Question,
  refs: readonly BlockRef[],
  work: { readonly columns: readonly string[]; readonly task: ScanTask<Args, Part>; readonly args: Args },
): AsyncGenerator<Part, void, undefined> {
  requireReadable(refs);
  return state.store.scan(ctx.accountId, refs, { ...work, tooLate: () => tooLate() }, signal);
}

/** Puts parts together: a few here, many in a thread. `size`: about how many values they have. */
export function reduce<Args, Answer>(
  { ctx, signal }: Question,
  task: ScanTask<Args, Answer>,
  args: Args,
  size: number,
): Promise<Answer> {
  return reckon(
    { core: ctx.core, accountId: ctx.accountId, signal, tooLate: () => tooLate() },
    task,
    args,
    size <= REDUCED_HERE_MAX,
  );
}

const REDUCED_HERE_MAX = 20_000;
