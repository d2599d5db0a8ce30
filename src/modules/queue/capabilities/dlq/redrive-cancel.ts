import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { problem } from '../../../../problems/problem.ts';
import {
  findRedrive,
  type RedriveRow,
  redriveRecord,
  saveRedrive,
  takeRedrive,
} from '../../dead-letter/redrive-store.ts';
import { redriveSchema } from '../../schemas.ts';
import type { QueueState } from '../../state.ts';

export const dlqRedriveCancel = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/dlq/redrive_cancel/{redrive_id}',
  summary: 'Stops a running redrive.',
  description: 'What was moved stays moved. Cancelling a redrive that has ended answers it as it is.',
  keywords: ['stop redrive', 'abort replay of dead letters'],
  input: Type.Object({ redrive_id: Type.String({ minLength: 1, maxLength: 100, description: 'Id of the redrive.' }) }),
  output: redriveSchema,
  destructive: true,
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'Cancel',
      before: [
        { capability: 'queue.create', input: { name: 'failed' } },
        { capability: 'queue.create', input: { name: 'jobs', dead_letter_queue: 'failed' } },
        { capability: 'queue.dlq.redrive', input: { queue: 'jobs' } },
      ],
      input: { redrive_id: '$2.redrive_id' },
      expect: { state: 'completed' },
    },
  ],
  async run({ ctx, input }) {
    return runWrite(ctx, async (tx, { nowMs }) => {
      const redrive = await takeRedrive(tx, ctx.accountId, input.redrive_id);
      if (redrive === null) throw problem('NOT_FOUND', { param: 'redrive_id', message: 'The redrive does not exist.' });
      if (redrive.state === 'running') await saveRedrive(tx, redrive, redrive.moved, 'cancelled', nowMs);
      return redriveRecord((await findRedrive(tx, ctx.accountId, input.redrive_id)) as RedriveRow);
    });
  },
});
