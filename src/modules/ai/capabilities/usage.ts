import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { instantField, seriesPeriod } from '../../../core/usage/period.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant } from '../../../kit/fields.ts';
import { iso } from '../../../lib/time.ts';
import { MODEL_DAYS_KEPT, modelUseOf } from '../models/model-days.ts';
import type { AiState } from '../state.ts';

const boundField = (description: string) =>
  Type.String({
    format: 'date-time',
    maxLength: 40,
    description: `${description} A date and time with an offset, such as 2026-11-01T00:00:00Z.`,
  });

export const usage = defineCapability<AiState>()({
  method: 'GET',
  path: '/v1/ai/usage',
  summary: 'Sums up what was spent on each model.',
  description:
    'Calls that were charged, tokens in and out, and spend by model and capability, items of batches included; without `from` of the last 30 days. ' +
    'Bounds are widened to whole days (UTC). The sums are what was captured, to the last call. Answers out of the cache and failures cost nothing and are not in it.',
  keywords: ['spend by model', 'token usage', 'cost of llm calls', 'model costs'],
  input: Type.Object({
    from: Type.Optional(boundField('Start of the period.')),
    to: Type.Optional(boundField('End of the period, itself not included; absent: now.')),
  }),
  output: Type.Object(
    {
      period_start: instant('Start of the first day.'),
      period_end: instant('End of the last day.'),
      by_model: Type.Array(
        Type.Object({
          model: Type.String({ description: 'Who answered, `vendor/model`.' }),
          capability: Type.String({ description: '`ai.chat` or `ai.embed`.' }),
          calls: Type.Integer({ description: 'That were charged.' }),
          input_tokens: Type.Integer({ description: 'That went in.' }),
          output_tokens: Type.Integer({ description: 'That came out; 0 for embeddings.' }),
          spend_usd: Type.Number({ description: 'Charged for them. USD, exact to 0.000000001.' }),
        }),
        { description: 'The costliest first.' },
      ),
    },
    { title: 'AiUsage' },
  ),
  limits: { period: `At most 400 days in one answer; days are kept for ${MODEL_DAYS_KEPT}.` },
  examples: [
    {
      title: 'The last 30 days',
      before: [
        {
          capability: 'ai.chat',
          input: { model: 'sandbox/echo-1', messages: [{ role: 'user', content: 'Say hello.' }] },
        },
      ],
      input: {},
    },
  ],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const [from, to] = [instantField('from', input.from), instantField('to', input.to)];
    const period = seriesPeriod('day', from, to, await clockNow(db));
    const data = {
      period_start: iso(period.fromMs),
      period_end: iso(period.toMs),
      by_model: await modelUseOf(db, ctx.accountId, period),
    };
    return { data };
  },
});
