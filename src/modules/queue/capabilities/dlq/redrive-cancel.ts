import Type from 'typebox';
import { type Changeable, changeOf } from '../../../../kit/resource.ts';
import { type RedriveRow, redriveRecord, saveRedrive, takeRedrive } from '../../dead-letter/redrive-store.ts';
import { redriveSchema } from '../../schemas.ts';

const redrives: Changeable<RedriveRow, unknown, typeof redriveSchema> = {
  noun: 'redrive',
  keyName: 'redrive_id',
  keyField: Type.String({ minLength: 1, maxLength: 100, description: 'Id of the redrive.' }),
  output: redriveSchema,
  show: (row) => redriveRecord(row),
  find: (tx, { accountId }, id) => takeRedrive(tx, accountId, id),
  async save(tx, _ctx, row) {
    await saveRedrive(tx, row, row.moved, row.state, row.finished_at);
    return row;
  },
};

export const dlqRedriveCancel = changeOf(redrives)({
  method: 'POST',
  path: '/v1/queue/dlq/redrive_cancel/{redrive_id}',
  summary: 'Stops a running redrive.',
  description: 'What was moved stays moved. Cancelling a redrive that has ended answers it as it is.',
  keywords: ['stop redrive', 'abort replay of dead letters'],
  destructive: true,
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
  change: ({ state }, _input, { nowMs }) => (state === 'running' ? { state: 'cancelled', finished_at: nowMs } : null),
});
