import Type from 'typebox';
import { lockCaller } from '../../../core/accounts/accounts.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { queueLimits } from '../limits.ts';
import { problem } from '../problems.ts';
import { type QueueRow, queueRecord } from '../queues/records.ts';
import { deadLetterQueueId, newQueueId, refuseFifoPriority, settingsAtCreation } from '../queues/settings.ts';
import { addQueue, findQueue, queueCount } from '../queues/store.ts';
import { queueName, queueSchema, settingsFields } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const create = defineCapability<QueueState>()({
  id: 'queue.create',
  method: 'POST',
  path: '/v1/queue/create',
  summary: 'Creates a queue.',
  description:
    'Creates a durable queue and answers its settings. Creating it again with the same settings answers the existing queue; ' +
    'with other settings it is 409 ALREADY_EXISTS. A dead-letter queue must exist already and be of the same type.',
  keywords: ['create sqs queue', 'new job queue', 'fifo queue', 'priority queue', 'task queue', 'rabbitmq declare'],
  input: Type.Object({
    name: queueName('Name, unique in the account: 3 to 80 of a-z, 0-9, dot, underscore, hyphen.'),
    type: Type.Optional(
      Type.Enum(['standard', 'fifo'], {
        default: 'standard',
        description: '`standard` (default): high rate, order by availability. `fifo`: strict order per message group.',
      }),
    ),
    ...settingsFields,
  }),
  output: queueSchema,
  price: 'free',
  scope: 'write',
  idempotent: true,
  errors: ['QUEUE_NOT_FOUND', 'ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
  events: [],
  limits: { queues: '1,000 queues an account (standard tier), 10,000 (pro), 100,000 (enterprise).' },
  examples: [
    { title: 'A queue for jobs', input: { name: 'jobs' }, expect: { name: 'jobs', type: 'standard' } },
    {
      title: 'With a dead-letter queue',
      before: [{ capability: 'queue.create', input: { name: 'jobs-dead' } }],
      input: { name: 'jobs-retried', dead_letter_queue: 'jobs-dead', max_retries: 5 },
      expect: { dlq_name: 'jobs-dead', max_receive_count: 5 },
    },
  ],
  async run({ ctx, input }) {
    return runWrite(ctx, async (tx) => {
      const nowMs = await lockCaller(tx, ctx.accountId);
      const type = input.type ?? 'standard';
      refuseFifoPriority(type, input.enable_priority);
      const existing = await findQueue(tx, ctx.accountId, input.name);
      const dlqId = await deadLetterQueueId(
        tx,
        ctx.accountId,
        { name: input.name, type, queueId: existing?.queue_id ?? null },
        input.dead_letter_queue ?? null,
      );
      const settings = settingsAtCreation(input, dlqId);
      if (existing !== null) return queueRecord(refuseOther(existing, type, settings));
      if ((await queueCount(tx, ctx.accountId)) >= queueLimits.queues[ctx.tier]) {
        throw problem('QUOTA_EXCEEDED', { message: `The account has its ${queueLimits.queues[ctx.tier]} queues.` });
      }
      await addQueue(tx, {
        ...settings,
        accountId: ctx.accountId,
        name: input.name,
        queueId: await newQueueId(tx, ctx.accountId, nowMs),
        type,
        nowMs,
      });
      return queueRecord((await findQueue(tx, ctx.accountId, input.name)) as QueueRow);
    });
  },
});

/** Creating again what is there already is no error. */
function refuseOther(existing: QueueRow, type: string, settings: object): QueueRow {
  const differing = Object.entries({ type, ...settings }).find(
    ([name, value]) => existing[name as keyof QueueRow] !== value,
  );
  if (differing !== undefined)
    throw problem('ALREADY_EXISTS', {
      param: 'name',
      message: `The queue ${existing.name} exists with other settings (${differing[0]}).`,
    });
  return existing;
}
