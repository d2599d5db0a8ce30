import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { flushUsage } from '../../../core/hear-siblings.ts';
import { instantField as instantOf, usagePeriod } from '../../../core/usage/period.ts';
import { usageOf } from '../../../core/usage/read.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant } from '../../../kit/fields.ts';
import {
  boundField,
  capabilityFilter,
  consoleCallsFilter,
  keyFilter,
  usageFilterOf,
  usdField,
} from '../list-fields.ts';

const figures = {
  count: Type.Integer({ description: 'Calls, failed ones included.' }),
  error_count: Type.Integer({ description: 'Failed calls among them.' }),
  units: Type.Integer({ description: 'Billed units, such as messages or vectors.' }),
  spend_usd: usdField('Charged for them.'),
};

export const usage = defineCapability()({
  method: 'GET',
  path: '/v1/account/usage',
  summary: 'Sums up spending and calls of a period.',
  description:
    'Spending, calls and failed calls, in all, by capability and by key; without bounds for the current UTC calendar month. Usage is ' +
    'kept by the hour: `from` is rounded down and `to` up to a full hour (to a full day of what is older than 62 days, to a full month of what is older than 430), and period_start and period_end show what was summed. ' +
    'Billable calls are counted together with their charge, all others within five seconds.',
  keywords: ['cost report', 'spending by module', 'billing summary', 'usage statistics', 'what was spent last month'],
  input: Type.Object({
    from: Type.Optional(boundField('Start of the period.')),
    to: Type.Optional(boundField('End of the period, itself not included.')),
    capability: Type.Optional(capabilityFilter),
    key_id: Type.Optional(keyFilter),
    console_calls: Type.Optional(consoleCallsFilter),
  }),
  output: Type.Object(
    {
      period_start: instant('Start of what was summed.'),
      period_end: instant('End of what was summed.'),
      spend_usd: usdField('Charged in the period.'),
      request_count: Type.Integer({ description: 'Authenticated calls.' }),
      error_count: Type.Integer({ description: 'Those of them that were answered with a status of 400 or above.' }),
      by_capability: Type.Array(
        Type.Object({ capability: Type.String({ description: 'Capability id.' }), ...figures }),
        {
          description: 'The costliest first.',
        },
      ),
      by_key: Type.Array(Type.Object({ key_id: Type.String({ description: 'API key.' }), ...figures }), {
        description: 'The costliest first.',
      }),
    },
    { title: 'Usage' },
  ),
  examples: [
    { title: 'This month', input: {} },
    {
      title: 'One capability in October',
      input: { from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z', capability: 'queue.publish' },
    },
  ],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const from = instantOf('from', input.from);
    const to = instantOf('to', input.to);
    const [nowMs] = await Promise.all([clockNow(db), flushUsage(ctx.core, ctx.accountId)]);
    return { data: await usageOf(db, ctx.accountId, usagePeriod(from, to, nowMs), usageFilterOf(input)) };
  },
});
