import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { samplesKind } from '../samples/kind.ts';
import type { MetricsState } from '../state.ts';

const settingsSchema = Type.Object({
  retention_days: Type.Integer({
    minimum: 1,
    maximum: samplesKind.keepDays.max,
    description: 'Days that points are kept.',
  }),
});

export const getSettings = defineCapability<MetricsState>()({
  method: 'GET',
  path: '/v1/metrics/settings/get',
  summary: 'Shows how long points of metrics are kept.',
  description: `Days that points are kept, by their timestamps: ${samplesKind.keepDays.standard} unless metrics.settings.set says otherwise.`,
  keywords: ['metrics retention', 'how long metrics are kept'],
  input: Type.Object({}),
  output: settingsSchema,
  examples: [{ title: 'As it begins', input: {}, expect: { retention_days: samplesKind.keepDays.standard } }],
  async run({ ctx, state }) {
    return { data: { retention_days: await state.store.keepDays(ctx.core.db, ctx.accountId) } };
  },
});

export const setSettings = defineCapability<MetricsState>()({
  method: 'PUT',
  path: '/v1/metrics/settings/set',
  summary: 'Sets how long points of metrics are kept.',
  description:
    'A shorter time hides older points at once, for good: they are deleted soon after. A longer one keeps what is there from now on.',
  keywords: ['change metrics retention', 'delete old metrics'],
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
