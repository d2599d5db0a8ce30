import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { parseInstant } from '../../../lib/instant.ts';
import { DAY_MS, iso } from '../../../lib/time.ts';
import { PERIODS_MAX } from '../limits.ts';
import { bucketStarts, intervals, startOfNext } from '../queries/buckets.ts';
import { ask, periodFields } from '../queries/period.ts';
import { retentionOf } from '../queries/retention.ts';
import type { AnalyticsState } from '../state.ts';
import { eventField } from './questions.ts';

const PERIODS_USUAL = 8;
const widthMs = { hour: DAY_MS / 24, day: DAY_MS, week: 7 * DAY_MS, month: 31 * DAY_MS };

export const retention = defineCapability<AnalyticsState>()({
  method: 'POST',
  path: '/v1/analytics/retention',
  summary: 'Counts how many people came back, period by period.',
  description:
    'A row for each period: the people who did start_event in it, and how many of them did return_event in each of the periods that follow. ' +
    'Somebody who starts in several periods counts in each. Periods are in UTC, weeks begin on Monday; the last one is that of to.',
  keywords: ['cohort', 'returning users', 'churn', 'user retention table', 'stickiness'],
  isLongRead: true,
  input: Type.Object({
    start_event: Type.Optional(eventField('What people begin with; any event when absent.')),
    return_event: Type.Optional(eventField('What counts as coming back; any event when absent.')),
    period: Type.Optional(Type.Enum([...intervals], { description: 'day when absent.' })),
    periods: Type.Optional(
      Type.Integer({ minimum: 2, maximum: PERIODS_MAX, description: 'How many, 2 to 31; 8 when absent.' }),
    ),
    to: periodFields.to,
    include_bots: periodFields.include_bots,
  }),
  output: Type.Object({
    cohorts: Type.Array(
      Type.Object({
        from: Type.String({ format: 'date-time', description: 'Where the period begins.' }),
        people: Type.Integer({ description: 'Who began in it.' }),
        returned: Type.Array(Type.Integer(), {
          description: 'How many of them came back in each later period, the next one first.',
        }),
      }),
    ),
  }),
  errors: ['QUERY_TOO_LARGE', 'CONCURRENCY_LIMITED'],
  limits: { query: '10 million events, 10 s, two at a time.', periods: '2 to 31.' },
  examples: [{ title: 'Eight weeks', input: { start_event: 'signed_up', period: 'week', periods: 8 } }],
  async run({ ctx, input, state }) {
    const { period = 'day', periods = PERIODS_USUAL } = input;
    const lastMs =
      (input.to === undefined ? (await clockNow(ctx.core.db)) + 1 : (parseInstant(input.to) as number)) - 1;
    const starts = bucketStarts(lastMs - periods * widthMs[period], lastMs + 1, period, 2 * PERIODS_MAX).slice(
      -periods,
    );
    const span = { fromMs: starts[0] as number, toMs: startOfNext(starts.at(-1) as number, period) };
    const asked = {
      startEvent: input.start_event ?? null,
      returnEvent: input.return_event ?? null,
      starts: Float64Array.from(starts),
      includeBots: input.include_bots === true,
    };
    const rows = await ask(ctx, state, span, (question) => retentionOf(question, asked));
    const cohorts = rows.map(([people = 0, ...returned], i) => ({ from: iso(starts[i] as number), people, returned }));
    return { data: { cohorts } };
  },
});
