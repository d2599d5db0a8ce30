import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import { SERIES_EVENTS_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { intervals } from '../queries/buckets.ts';
import { checkFilter, filterSchema } from '../queries/filter.ts';
import { ask, periodFields, periodOf } from '../queries/period.ts';
import { trendOf } from '../queries/trends.ts';
import type { AnalyticsState } from '../state.ts';
import { breakdownField, eventField } from './questions.ts';

const aggregates = ['total', 'uniques', 'sum', 'avg'] as const;

export const trends = defineCapability<AnalyticsState>()({
  method: 'POST',
  path: '/v1/analytics/trends',
  summary: 'Counts events by intervals of time.',
  description:
    'A series for each of events, or one of all events. math: total counts events, uniques counts people, sum and avg take the numbers of property. Counts are exact. ' +
    'Intervals are in UTC, weeks begin on Monday. Events of bots are left out unless include_bots. A query reads at most 10 million events and 10 s.',
  keywords: [
    'chart of events',
    'daily active users',
    'unique visitors',
    'count events per day',
    'break down by property',
  ],
  isLongRead: true,
  input: Type.Object({
    events: Type.Optional(
      Type.Array(eventField('Name of an event.'), {
        minItems: 1,
        maxItems: SERIES_EVENTS_MAX,
        description: 'Names of events, a series each; all events as one series when absent.',
      }),
    ),
    ...periodFields,
    interval: Type.Optional(Type.Enum([...intervals], { description: 'day when absent; at most 1,000 intervals.' })),
    math: Type.Optional(Type.Enum([...aggregates], { description: 'total when absent.' })),
    property: Type.Optional(eventField('Whose numbers sum and avg take; events without a number count nothing.')),
    breakdown: breakdownField,
    filter: filterSchema,
  }),
  output: Type.Object({
    times: Type.Array(Type.String({ format: 'date-time' }), { description: 'Where each interval begins.' }),
    series: Type.Array(
      Type.Object({
        event: textOrNull('Name of the event; null: all events.'),
        breakdown: textOrNull('Value of the property; null: no breakdown, events without it, or the others.'),
        is_other: Type.Boolean({ description: 'Whether these are all values beyond the 20 most frequent.' }),
        values: Type.Array(Type.Number(), { description: 'One an interval.' }),
        total: Type.Number({ description: 'Of the whole period; of uniques and avg this is not the sum of values.' }),
      }),
    ),
  }),
  errors: ['QUERY_TOO_LARGE', 'CONCURRENCY_LIMITED'],
  limits: { query: '10 million events, 10 s, two at a time.', series: '10 events, 20 values of the breakdown.' },
  examples: [
    {
      title: 'How often plans were chosen, by plan',
      before: [
        {
          capability: 'analytics.capture',
          input: { event: 'plan_chosen', distinct_id: 'u1', properties: { plan: 'pro' } },
        },
      ],
      input: { events: ['plan_chosen'], interval: 'day', breakdown: 'plan' },
    },
    { title: 'People a week', input: { math: 'uniques', interval: 'week' } },
  ],
  async run({ ctx, input, state }) {
    const { interval = 'day', math = 'total', property = null, breakdown = null, filter = [] } = input;
    if ((math === 'sum' || math === 'avg') && property === null) {
      throw problem('INVALID_REQUEST', { param: 'property', message: `property is required with math ${math}.` });
    }
    checkFilter(filter, 'filter');
    const events = input.events === undefined ? null : [...new Set(input.events)];
    const asked = {
      events,
      math,
      breakdown,
      filter,
      interval,
      includeBots: input.include_bots === true,
      property: math === 'sum' || math === 'avg' ? property : null,
    };
    const { times, lines } = await ask(ctx, state, await periodOf(ctx, input), (question) => trendOf(question, asked));
    const empty = { value: null, isOther: false, values: times.map(() => 0), total: 0 };
    const series = (events ?? [null]).flatMap((event, i) => {
      const own = lines.filter(({ series: of }) => of === i);
      return (own.length === 0 ? [empty] : own).map(({ value, isOther, values, total }) => ({
        event,
        breakdown: value,
        is_other: isOther,
        values,
        total,
      }));
    });
    return { data: { times, series } };
  },
});
