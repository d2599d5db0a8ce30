import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { KEEP_DAYS } from '../limits.ts';
import type { AnalyticsState } from '../state.ts';

const settingsSchema = Type.Object({
  retention_days: Type.Integer({ minimum: 1, maximum: KEEP_DAYS.max, description: 'Days that events are kept.' }),
});

export const getSettings = defineCapability<AnalyticsState>()({
  method: 'GET',
  path: '/v1/analytics/settings/get',
  summary: 'Shows how long events are kept.',
  description: `Days that events are kept, by their timestamps: ${KEEP_DAYS.standard} unless analytics.settings.set says otherwise.`,
  keywords: ['analytics retention days', 'how long analytics events are kept'],
  input: Type.Object({}),
  output: settingsSchema,
  examples: [{ title: 'As it begins', input: {}, expect: { retention_days: KEEP_DAYS.standard } }],
  async run({ ctx, state }) {
    return { data: { retention_days: await state.store.keepDays(ctx.core.db, ctx.accountId) } };
  },
});

export const setSettings = defineCapability<AnalyticsState>()({
  method: 'PUT',
  path: '/v1/analytics/settings/set',
  summary: 'Sets how long events are kept.',
  description:
    'A shorter time hides older events at once, for good: they are deleted soon after. A longer one keeps what is there from now on.',
  keywords: ['change analytics retention', 'delete old analytics events'],
  input: settingsSchema,
  output: settingsSchema,
  examples: [{ title: 'Thirty days', input: { retention_days: 30 }, expect: { retention_days: 30 } }],
  async run({ ctx, input, state }) {
    return runWrite(ctx, async (tx) => {
      await state.store.setKeepDays(tx, ctx.accountId, input.retention_days);
      return { retention_days: input.retention_days };
    });
  },
});
