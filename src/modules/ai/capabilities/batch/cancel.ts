import Type from 'typebox';
import { runLongWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { endEarly } from '../../batches/early-end.ts';
import { batchIdField, batchSchema } from '../../batches/schemas.ts';
import { batchRecord } from '../../batches/store.ts';
import { problem } from '../../problems.ts';
import type { AiState } from '../../state.ts';
import { muchToDo } from './examples.ts';

export const cancel = defineCapability<AiState>()({
  method: 'POST',
  path: '/v1/ai/batch/cancel/{batch_id}',
  summary: 'Cancels a batch.',
  description:
    'Requests that have not begun fail with BATCH_ENDED and cost nothing. Those under way go on and are charged; until they are over the ' +
    'batch is running, then cancelled. Results that are there stay. A repeat answers the same batch; one that has ended is 409.',
  keywords: ['stop a batch', 'abort batch'],
  input: Type.Object({ batch_id: batchIdField }),
  output: batchSchema,
  destructive: true,
  errors: ['BATCH_NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'Asked twice, it answers the same',
      before: [
        muchToDo,
        { capability: 'ai.batch.cancel', input: { batch_id: '$0.batch_id' } },
        { capability: 'ai.batch.get', input: { batch_id: '$0.batch_id' }, until: { status: 'cancelled' } },
      ],
      input: { batch_id: '$0.batch_id' },
      expect: { status: 'cancelled', counts: { total: 40 } },
    },
  ],
  run: ({ ctx, input }) =>
    runLongWrite(ctx, async (tx) => {
      const batch = await endEarly(tx, ctx.accountId, input.batch_id, 'cancelled');
      if (batch === null) throw problem('BATCH_NOT_FOUND', { param: 'batch_id' });
      return batchRecord(batch);
    }),
});
