import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { KEEP_DAYS } from '../limits.ts';
import type { LogsState } from '../state.ts';

const settingsSchema = Type.Object({
  retention_days: Type.Integer({ minimum: 1, maximum: KEEP_DAYS.max, description: 'Days that records are kept.' }),
});

export const getSettings = defineCapability<LogsState>()({
  method: 'GET',
  path: '/v1/logs/settings/get',
  summary: 'Shows how long log records are kept.',
  description: `Days that records are kept, by their timestamps: ${KEEP_DAYS.standard} unless logs.settings.set says otherwise.`,
  keywords: ['log retention', 'how long logs are kept'],
  input: Type.Object({}),
  output: settingsSchema,
  examples: [{ title: 'As it begins', input: {}, expect: { retention_days: KEEP_DAYS.standard } }],
  async run({ ctx, state }) {
    return { data: { retention_days: await state.store.keepDays(ctx.core.db, ctx.accountId) } };
  },
});

export const setSettings = defineCapability<LogsState>()({
  method: 'PUT',
  path: '/v1/logs/settings/set',
  summary: 'Sets how long log records are kept.',
  description:
    'A shorter time hides older records at once, for good: they are deleted soon after. A longer one keeps what is there from now on.',
  keywords: ['change log retention', 'delete old logs'],
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
