import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { checkOrder, instantField } from '../../../core/usage/period.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant, wholeOrNull } from '../../../kit/fields.ts';
import { readSamples, samplePeriod } from '../samples/read.ts';
import { SAMPLE_DAYS } from '../samples/take.ts';
import { queueName } from '../schemas.ts';
import type { QueueState } from '../state.ts';

const timeBound = (description: string) =>
  Type.Optional(
    Type.String({
      format: 'date-time',
      maxLength: 40,
      description: `${description} A date and time with an offset, such as 2026-11-01T12:00:00Z.`,
    }),
  );

export const samples = defineCapability<QueueState>()({
  method: 'GET',
  path: '/v1/queue/samples/{queue}',
  summary: 'Shows the rates and the depth of a queue over time.',
  description:
    'Each queue that holds messages or changes is sampled once a minute. Steps are 1 minute for up to 6 hours, 5 minutes for up to 33 hours, ' +
    '30 minutes beyond. Depth and age are the highest of the step. All figures of a step are null while the service was not running.',
  keywords: ['queue metrics', 'queue throughput', 'queue depth over time', 'publish rate', 'backlog history'],
  input: Type.Object({
    queue: queueName('Name of the queue.'),
    from: timeBound('Start of the period; one hour before its end by default.'),
    to: timeBound('End of the period; now by default.'),
  }),
  output: Type.Object(
    {
      step_seconds: Type.Integer({ description: 'Length of a step: 60, 300 or 1,800.' }),
      items: Type.Array(
        Type.Object({
          at: instant('Start of the step.'),
          published: wholeOrNull('Messages published in the step.'),
          acknowledged: wholeOrNull('Messages acknowledged in the step.'),
          depth: wholeOrNull('Messages in the queue: available, in flight and delayed.'),
          oldest_message_age_seconds: wholeOrNull('Age of the oldest message; 0 when there is none.'),
        }),
        { description: 'One for each step that is over, oldest first.' },
      ),
    },
    { title: 'QueueSamples' },
  ),
  errors: ['QUEUE_NOT_FOUND'],
  limits: { period: `The last ${SAMPLE_DAYS} days; an earlier start is moved there. At most 400 steps.` },
  examples: [
    {
      title: 'The last hour',
      before: [{ capability: 'queue.create', input: { name: 'sampled' } }],
      input: { queue: 'sampled' },
      expect: { step_seconds: 60 },
    },
  ],
  async run({ ctx, input, state }) {
    const { db } = ctx.core;
    const [fromMs, toMs] = [instantField('from', input.from), instantField('to', input.to)];
    checkOrder(fromMs, toMs);
    const queue = await state.cache.refresh(ctx.accountId, input.queue);
    const period = samplePeriod(fromMs, toMs, await clockNow(db));
    return { data: { step_seconds: period.stepMs / 1_000, items: await readSamples(db, queue, period) } };
  },
});
