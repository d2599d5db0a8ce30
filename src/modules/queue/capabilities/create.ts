import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { problem } from '../problems.ts';
import { createQueue } from '../queues/create-queue.ts';
import { type QueueRow, queueRecord } from '../queues/records.ts';
import { settingsSent } from '../queues/settings.ts';
import type { QueueSettings } from '../queues/store.ts';
import { queueName, queueSchema, settingsFields } from '../schemas.ts';
import type { QueueState } from '../state.ts';

export const create = defineCapability<QueueState>()({
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
  errors: ['QUEUE_NOT_FOUND', 'ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
  limits: { queues: '1,000 queues an account (standard tier), 10,000 (pro), 100,000 (enterprise).' },
  examples: [
    { title: 'A queue for jobs', input: { name: 'jobs' }, expect: { name: 'jobs', type: 'standard' } },
    {
      title: 'With a dead-letter queue',
      before: [{ capability: 'queue.create', input: { name: 'jobs-dead' } }],
      input: { name: 'jobs-retried', dlq_name: 'jobs-dead', max_receive_count: 5 },
      expect: { dlq_name: 'jobs-dead', max_receive_count: 5 },
    },
  ],
  async run({ ctx, input }) {
    const type = input.type ?? 'standard';
    const { accountId, tier } = ctx;
    const wanted = { ...settingsSent(input), name: input.name, type, sqsName: null };
    return runWrite(ctx, async (tx, { nowMs }) =>
      queueRecord(
        await createQueue(tx, { accountId, tier, nowMs }, wanted, (existing, settings) =>
          refuseOther(existing, { type, ...settings }),
        ),
      ),
    );
  },
});

/** As the fields of the call name them. */
const FIELDS: Readonly<Record<string, string>> = {
  retention_seconds: 'message_retention_days',
  max_message_bytes: 'max_message_size_kb',
};

/** Creating again what is there already is no error. */
function refuseOther(existing: QueueRow, wanted: QueueSettings & { readonly type: string }): void {
  const [differing] =
    Object.entries(wanted).find(
      ([name, value]) => name !== 'sqs_settings' && existing[name as keyof QueueRow] !== value,
    ) ?? [];
  if (differing !== undefined)
    throw problem('ALREADY_EXISTS', {
      param: 'name',
      message: `The queue ${existing.name} exists with other settings (${FIELDS[differing] ?? differing}).`,
    });
}
