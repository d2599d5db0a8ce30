import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { batchIdField, batchSchema } from '../../batches/schemas.ts';
import { batchRecord, requireBatch } from '../../batches/store.ts';
import type { AiState } from '../../state.ts';
import { completed, created } from './examples.ts';

export const get = defineCapability<AiState>()({
  method: 'GET',
  path: '/v1/ai/batch/get/{id}',
  summary: 'Says how far a batch is.',
  description: 'Status, how many requests have succeeded and failed, and what they have cost by now.',
  keywords: ['batch progress', 'is my batch done'],
  input: Type.Object({ id: batchIdField }),
  output: batchSchema,
  errors: ['BATCH_NOT_FOUND'],
  examples: [
    {
      title: 'When it is over',
      before: [created, completed],
      input: { id: '$0.batch_id' },
      expect: { status: 'completed', counts: { total: 2, succeeded: 2, failed: 0 } },
    },
  ],
  async run({ ctx, input }) {
    return { data: batchRecord(await requireBatch(ctx.core.db, ctx.accountId, input.id)) };
  },
});
