import Type from 'typebox';
import { runLongWrite } from '../../../../core/idempotency/write.ts';
import type { Queryable } from '../../../../db/database.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { newId } from '../../../../lib/ids.ts';
import { JsonText } from '../../../../lib/json-text.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { startRedrive } from '../../dead-letter/redrive.ts';
import { findRedrive, type RedriveRow, redriveRecord } from '../../dead-letter/redrive-store.ts';
import { problem } from '../../problems.ts';
import type { QueueRow } from '../../queues/records.ts';
import { readStats } from '../../queues/stats.ts';
import { findQueue, holdQueue, sourcesOf } from '../../queues/store.ts';
import { queueName, redriveSchema } from '../../schemas.ts';
import { type QueueState, queueKey } from '../../state.ts';

const MESSAGE_IDS_MAX = 1_000;

export const dlqRedrive = defineCapability<QueueState>()({
  method: 'POST',
  path: '/v1/queue/dlq/redrive/{queue}',
  summary: 'Moves dead-lettered messages back to their queue.',
  description:
    'Messages of this queue (name the source queue, not the dead-letter queue) go back from its dead-letter queue with delivery_count 0: ' +
    'all of them, those of message_ids, or at most max_messages. ' +
    'Without rate_per_second it is completed when answered; with it, it runs in the background (one at a time a queue) and can be cancelled.',
  keywords: ['replay dead letters', 'retry dlq messages', 'move failed messages back'],
  input: Type.Object({
    queue: queueName('Name of the source queue: the one whose messages are to go back.'),
    message_ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 200, description: 'Id of a message.' }), {
        minItems: 1,
        maxItems: MESSAGE_IDS_MAX,
        description: 'Only these messages; ids that are not there are passed over.',
      }),
    ),
    max_messages: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'At most so many, in publish order.' }),
    ),
    rate_per_second: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'Messages a second; all at once when not sent.' }),
    ),
  }),
  output: redriveSchema,
  errors: ['QUEUE_NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'Everything',
      before: [
        { capability: 'queue.create', input: { name: 'failed' } },
        { capability: 'queue.create', input: { name: 'jobs', dead_letter_queue: 'failed' } },
      ],
      input: { queue: 'jobs' },
      expect: { state: 'completed', moved: 0 },
    },
  ],
  async run({ ctx, input, state }) {
    const { db } = ctx.core;
    const { accountId } = ctx;
    const queue = await findQueue(db, accountId, input.queue);
    const seqs = seqsOf(state, accountId, input.message_ids);
    const dead = queue === null ? 0 : (await readStats(db, state.ids, queue)).dlq_count;
    const requested = Math.min(input.max_messages ?? Number.MAX_SAFE_INTEGER, seqs?.length ?? dead, 2_147_483_647);
    const redriveId = newId('rdr_');
    const answer = await runLongWrite(ctx, async (tx) => {
      const source = await holdQueue(tx, accountId, input.queue);
      if (source === null) throw problem('QUEUE_NOT_FOUND', { param: 'queue' });
      if (source.dlq_id === null && dead === 0) throw await noSource(tx, source);
      const of = { accountId, redriveId, queueId: source.queue_id, dlqId: source.dlq_id };
      await startRedrive(tx, { ...of, requested, seqs, ratePerSecond: input.rate_per_second ?? null });
      return redriveRecord((await findRedrive(tx, accountId, redriveId)) as RedriveRow);
    });
    const { moved } = (answer.data instanceof JsonText ? { moved: 0 } : answer.data) as { moved: number };
    if (moved > 0) state.waiters.wake(queueKey(accountId, input.queue), moved);
    return answer;
  },
});

/** A queue without dead letters of its own: most often the dead-letter queue itself was named. */
async function noSource(tx: Queryable, queue: QueueRow) {
  const sources = await sourcesOf(tx, queue.account_id, queue.queue_id);
  const message =
    sources.length === 0
      ? `${queue.name} has no dead-letter queue, and no message of it lies in one.`
      : `${queue.name} is the dead-letter queue of ${sources.join(', ')}: name the source queue, whose messages shall go back.`;
  return problem('STATE_CONFLICT', { param: 'queue', detail: 'not_a_source', message });
}

function seqsOf(state: QueueState, accountId: string, ids: readonly string[] | undefined): bigint[] | null {
  if (ids === undefined) return null;
  const seqs = new Set<bigint>();
  for (const [i, text] of ids.entries()) {
    const ref = state.ids.parse(accountId, text);
    if (ref === null && !text.startsWith('qmsg_'))
      throw invalidField(`message_ids[${i}]`, 'pattern', `message_ids[${i}] is not a message id.`);
    if (ref !== null) seqs.add(ref.seq);
  }
  return [...seqs];
}
