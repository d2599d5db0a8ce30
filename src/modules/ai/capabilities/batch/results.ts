import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../kit/fields.ts';
import { requireRow } from '../../../../kit/resource.ts';
import { resultPage } from '../../batches/results.ts';
import { batchIdField, resultSchema } from '../../batches/schemas.ts';
import { batches } from '../../batches/store.ts';
import type { AiState } from '../../state.ts';
import { completed, created } from './examples.ts';

export const results = defineCapability<AiState>()({
  method: 'GET',
  path: '/v1/ai/batch/results/{batch_id}',
  summary: 'Answers what came of the requests of a batch.',
  description:
    'In the order in which they ended, not that of the requests: custom_id says which is which. A page ends at some 4 MiB, so it may have ' +
    'fewer entries than asked for. While the batch runs there are results of those that are over; has_more false means no more by now.',
  keywords: ['batch output', 'download batch answers'],
  input: Type.Object({ batch_id: batchIdField, cursor: cursorField, limit: limitField }),
  output: pageOf(resultSchema),
  errors: ['BATCH_NOT_FOUND', 'INVALID_CURSOR', 'CONCURRENCY_LIMITED'],
  examples: [
    {
      title: 'Of a batch that is complete',
      before: [created, completed],
      input: { batch_id: '$0.batch_id', limit: 2 },
      expect: { has_more: false },
    },
  ],
  async run({ ctx, input }) {
    await requireRow(batches, ctx.core.db, ctx, input.batch_id);
    return { data: await resultPage(ctx, input.batch_id, input) };
  },
});
