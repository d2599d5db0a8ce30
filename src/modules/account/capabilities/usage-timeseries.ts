import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { flushUsage } from '../../../core/hear-siblings.ts';
import { type Granularity, instantField as instantOf, seriesPeriod } from '../../../core/usage/period.ts';
import { type GroupBy, usageSeries } from '../../../core/usage/read.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant, textOrNull } from '../../../kit/fields.ts';
import {
  boundField,
  capabilityFilter,
  consoleCallsFilter,
  keyFilter,
  usageFilterOf,
  usdField,
} from '../list-fields.ts';

export const usageTimeseries = defineCapability()({
  method: 'GET',
  path: '/v1/account/usage/timeseries',
  summary: 'Shows spending and calls over time.',
  description:
    'One item for every hour, day or month (UTC) of the period, zero where nothing happened; with group_by one item for each ' +
    'capability or key that occurs in the period. Bounds are widened to whole steps. Without `from`: the last 24 hours, 30 days or 12 ' +
    'months. The step that is still running is marked partial. Beyond 50 groups the cheapest are summed up as `(other)`.',
  keywords: ['spend over time', 'cost chart', 'daily usage graph', 'usage history'],
  input: Type.Object({
    granularity: Type.Optional(
      Type.Enum(['hour', 'day', 'month'], { default: 'day', description: 'Length of a step.' }),
    ),
    from: Type.Optional(boundField('Start of the period.')),
    to: Type.Optional(boundField('End of the period, itself not included; absent: now.')),
    group_by: Type.Optional(
      Type.Enum(['none', 'capability', 'key'], { default: 'none', description: 'What to tell apart.' }),
    ),
    capability: Type.Optional(capabilityFilter),
    key_id: Type.Optional(keyFilter),
    console_calls: Type.Optional(consoleCallsFilter),
  }),
  output: Type.Object(
    {
      granularity: Type.String({ description: 'Length of a step.' }),
      group_by: Type.String({ description: 'What is told apart.' }),
      period_start: instant('Start of the first step.'),
      period_end: instant('End of the last step.'),
      items: Type.Array(
        Type.Object({
          at: instant('Start of the step.'),
          spend_usd: usdField('Charged in it.'),
          request_count: Type.Integer({ description: 'Authenticated calls.' }),
          error_count: Type.Integer({ description: 'Failed ones among them.' }),
          group: textOrNull('Capability or key id; null without group_by.'),
          partial: Type.Optional(Type.Boolean({ description: 'True on the step that is still running.' })),
        }),
        { description: 'By time, then by group, the costliest first.' },
      ),
    },
    { title: 'UsageTimeseries' },
  ),
  limits: {
    period:
      'At most 744 hours, 400 days or 60 months an answer; after 62 days usage is kept by the day, after 430 by the month.',
  },
  examples: [
    { title: 'The last 30 days', input: {}, expect: { granularity: 'day', group_by: 'none' } },
    { title: 'The last day by the hour, for each capability', input: { granularity: 'hour', group_by: 'capability' } },
  ],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const granularity = (input.granularity ?? 'day') as Granularity;
    const from = instantOf('from', input.from);
    const to = instantOf('to', input.to);
    const [nowMs] = await Promise.all([clockNow(db), flushUsage(ctx.core, ctx.accountId)]);
    const period = seriesPeriod(granularity, from, to, nowMs);
    const query = { granularity, groupBy: (input.group_by ?? 'none') as GroupBy, period, filter: usageFilterOf(input) };
    return { data: await usageSeries(db, ctx.accountId, query, nowMs) };
  },
});
