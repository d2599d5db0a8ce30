// SendMessage and SendMessageBatch: each message is charged and stored like one of queue.publish.
import { hash } from 'node:crypto';
import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import type { CallContext } from '../../../kit/services.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { NewMessage } from '../publish/message.ts';
import { idInMessageText, type QueueRow } from '../queues/records.ts';
import type { QueueState } from '../state.ts';
import { keptOf } from './attributes.ts';
import { batchEntries, batchOutcome } from './batches.ts';
import { invalid, missing, refusal } from './failures.ts';
import { attributesMd5, md5, type SentMessage, sentMessage, sizeOf, storedMessage } from './message.ts';
import { type SqsAction, type SqsCall, theHotQueue } from './queue-actions.ts';
import { type Fields, optionalInteger, optionalText } from './request.ts';

const BATCH_BYTES_MAX = 1024 * 1024;
const MESSAGE_BYTES_MAX = 256 * 1024;
/** Of what a message's record has besides payload and headers. */
const FIXED_BYTES = 512;
const TRACE_CHARACTERS_MAX = 1_024;
const ID = /^[!-~]{1,128}$/;

export const sendMessage: SqsAction = async (call) => {
  const message = sentMessage(call.fields, traceOf(call));
  const { data } = await call.request.perform('queue.publish', async (ctx) => {
    const queue = await theHotQueue(call);
    return send(ctx, call.state, await withDeduplication(call.state, queue, call.fields), call.fields, message);
  });
  return data as Fields;
};

export const sendMessageBatch: SqsAction = async (call) => {
  const { state, request } = call;
  const entries = batchEntries(call.fields);
  const messages = entries.map(({ fields }) => messageOrProblem(fields, traceOf(call)));
  const bytes = messages.reduce((sum, each) => sum + ('body' in each ? sizeOf(each) : 0), 0);
  if (bytes > BATCH_BYTES_MAX) {
    throw refusal('BatchRequestTooLong', `The messages have ${bytes} bytes together, of at most ${BATCH_BYTES_MAX}.`);
  }
  const { data } = await request.perform('queue.batch.publish', async (ctx) => {
    const named = await theHotQueue(call);
    const queue = await withDeduplication(state, named, ...entries.map(({ fields }) => fields));
    let costNanos = 0n;
    const outcome = await batchOutcome(entries, async ({ fields }, i) => {
      const message = messages[i] as SentMessage | Problem;
      if (!('body' in message)) throw message;
      const answer = await send(ctx, state, queue, fields, message);
      costNanos += answer.costNanos;
      return answer.data;
    });
    return { data: outcome, costNanos };
  });
  return data as Fields;
};

function messageOrProblem(fields: Fields, trace: string | undefined): SentMessage | Problem {
  try {
    return sentMessage(fields, trace);
  } catch (error) {
    return error as Problem;
  }
}

/** Of the request: for messages that have none of their own. */
function traceOf({ request }: SqsCall): string | undefined {
  const trace = request.headers['x-amzn-trace-id'];
  return typeof trace === 'string' && trace.length <= TRACE_CHARACTERS_MAX ? trace : undefined;
}

/** Whether it deduplicates by content is asked of the queue as it is now, where it matters. */
function withDeduplication(
  state: QueueState,
  queue: QueueRow,
  ...sent: readonly Fields[]
): QueueRow | Promise<QueueRow> {
  const isNamed = sent.every(({ MessageDeduplicationId: id }) => id !== undefined);
  return queue.type === 'standard' || isNamed ? queue : state.cache.refresh(queue.account_id, queue.name);
}

async function send(
  ctx: CallContext,
  state: QueueState,
  queue: QueueRow,
  fields: Fields,
  sent: SentMessage,
): Promise<{ readonly data: Fields; readonly costNanos: bigint }> {
  const bytes = sizeOf(sent);
  const sizeMax = Math.min(queue.max_message_bytes, MESSAGE_BYTES_MAX);
  if (bytes > MESSAGE_BYTES_MAX) throw invalid('MessageBody', `Message must be shorter than ${sizeMax} bytes.`);
  const fifo = queue.type === 'fifo' ? fifoFields(queue, fields, sent) : null;
  const group = optionalText(fields, 'MessageGroupId', 128);
  if (fifo === null) refuseFifoFields(fields);
  const { kept, payload, headers } = storedMessage(sent, fifo === null ? group : undefined);
  const message: NewMessage = {
    payload,
    headers,
    priority: undefined,
    sqs: { bytes, kept },
    // A message of a FIFO queue has the delay of its queue.
    delaySeconds: fifo === null ? optionalInteger(fields, 'DelaySeconds', 0, 900) : undefined,
    groupId: fifo?.groupId ?? null,
    deduplicationId: fifo?.deduplicationId ?? null,
  };
  const { data, costNanos } = await chargeInLane(ctx, {
    units: 1n,
    effect: state.publishing,
    input: { queue: queue.name, messages: [message], paramOf: () => '', batch: false },
    sequences: 1,
    bytes: payload.length + (headers?.length ?? 0) + FIXED_BYTES,
    rows: 1,
  });
  const messageId = idInMessageText(data.text);
  const answer = {
    MessageId: messageId,
    MD5OfMessageBody: md5(sent.body),
    ...(sent.attributes.size === 0 ? {} : { MD5OfMessageAttributes: attributesMd5(sent.attributes) }),
    ...(sent.trace === undefined ? {} : { MD5OfMessageSystemAttributes: traceMd5(sent.trace) }),
    ...(fifo === null ? {} : { SequenceNumber: sequenceNumber(state.ids.parse(ctx.accountId, messageId)?.seq ?? 0n) }),
  };
  return { data: answer, costNanos };
}

function traceMd5(trace: string): string {
  return attributesMd5(new Map([['AWSTraceHeader', { type: 'String', value: trace }]]));
}

/** 20 digits, as SQS has them: they sort as numbers do. */
export function sequenceNumber(seq: bigint): string {
  return String(seq).padStart(20, '0');
}

function fifoFields(queue: QueueRow, fields: Fields, { body }: SentMessage) {
  const groupId = idOf(fields, 'MessageGroupId');
  if (groupId === undefined) throw missing('MessageGroupId');
  if ((optionalInteger(fields, 'DelaySeconds', 0, 900) ?? 0) > 0) {
    throw invalid('DelaySeconds', 'A FIFO queue delays all of its messages, or none.');
  }
  const sent = idOf(fields, 'MessageDeduplicationId');
  const byContent = keptOf(queue).attributes.ContentBasedDeduplication === 'true';
  if (sent === undefined && !byContent) {
    const reason =
      'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly';
    throw refusal('InvalidParameterValue', reason, 'MessageDeduplicationId');
  }
  return { groupId, deduplicationId: sent ?? hash('sha256', body) };
}

function refuseFifoFields(fields: Fields): void {
  if (fields.MessageDeduplicationId === undefined) return;
  throw invalid('MessageDeduplicationId', 'The request includes a parameter that is not valid for this queue type.');
}

function idOf(fields: Fields, name: string): string | undefined {
  const id = optionalText(fields, name, 128);
  if (id !== undefined && !ID.test(id)) throw invalid(name, 'It has 1 to 128 printable characters without spaces.');
  return id;
}
