// SQS actions of consumers: receive, change visibility and delete, as queue.consume, extend, nack and ack.

import { accountDigits, queueArn } from '../../../core/credentials/aws-arns.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { DAY_MS } from '../../../lib/time.ts';
import type { ClaimedRow } from '../consume/claim.ts';
import { consume } from '../consume/consume.ts';
import type { QueueRow } from '../queues/records.ts';
import { findQueueById } from '../queues/store.ts';
import { queueKey } from '../state.ts';
import { keptOf } from './attributes.ts';
import { batchEntries, batchOutcome, type Entry } from './batches.ts';
import { missing, refusal } from './failures.ts';
import { type Attributes, attributeFields, attributesMd5, md5, readMessage } from './message.ts';
import { shownName } from './names.ts';
import { invoke, type SqsAction, type SqsCall, theHotQueue } from './queue-actions.ts';
import { type Fields, optionalInteger, optionalText, texts } from './request.ts';
import { sequenceNumber } from './send-actions.ts';
import { writable } from './xml.ts';

const VISIBILITY_SECONDS_MAX = DAY_MS / 2_000;

export const receiveMessage: SqsAction = async (call) => {
  const { request, state, fields } = call;
  const wanted = optionalInteger(fields, 'MaxNumberOfMessages', 1, 10) ?? 1;
  const waitSeconds = optionalInteger(fields, 'WaitTimeSeconds', 0, 20);
  const visibilityTimeout = optionalInteger(fields, 'VisibilityTimeout', 0, VISIBILITY_SECONDS_MAX);
  const show = whatToShow(fields);
  const { data } = await request.perform('queue.consume', async (ctx) => {
    const queue = await theHotQueue(call);
    const wait = waitSeconds ?? Number(keptOf(queue).attributes.ReceiveMessageWaitTimeSeconds ?? 0);
    const rows = await consume(state, ctx, {
      queue: queue.name,
      messages: wanted,
      waitMs: wait * 1000,
      visibilityTimeout,
    });
    const sources = show.system('DeadLetterQueueSourceArn') ? await sourceArns(call, rows) : new Map();
    return { data: rows.map((row) => messageFields(call, queue, row, show, sources)) };
  });
  const messages = data as Fields[];
  // As with SQS: nothing is said of nothing.
  return messages.length === 0 ? {} : { Messages: messages };
};

interface Shown {
  system(name: string): boolean;
  attribute(name: string): boolean;
}

/** Which attributes were asked for: by name, by the beginning of names, or all. */
function whatToShow(fields: Fields): Shown {
  const system = new Set([...texts(fields, 'AttributeNames'), ...texts(fields, 'MessageSystemAttributeNames')]);
  const attributes = texts(fields, 'MessageAttributeNames');
  const names = new Set(attributes);
  const all = names.has('All') || names.has('.*');
  const prefixes = attributes.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  return {
    system: (name) => system.has('All') || system.has(name),
    attribute: (name) => all || names.has(name) || prefixes.some((prefix) => name.startsWith(prefix)),
  };
}

async function sourceArns({ state, accountId }: SqsCall, rows: readonly ClaimedRow[]): Promise<Map<bigint, string>> {
  const ids = [...new Set(rows.flatMap(({ source_queue_id: id }) => (id === null ? [] : [id])))];
  const queues = await Promise.all(ids.map((id) => findQueueById(state.core.db, accountId, id)));
  const found = queues.filter((queue) => queue !== null);
  return new Map(found.map((queue) => [queue.queue_id, queueArn(state.core, accountId, shownName(queue))]));
}

function messageFields(
  { state, accountId, isXml }: SqsCall,
  queue: QueueRow,
  row: ClaimedRow,
  show: Shown,
  sources: ReadonlyMap<bigint, string>,
): Fields {
  const { body: whole, attributes, trace, group } = readMessage(row);
  const body = isXml ? writable(whole) : whole;
  const shown: Attributes = new Map([...attributes].filter(([name]) => show.attribute(name)));
  const isFifo = queue.type === 'fifo';
  const system = Object.entries({
    SenderId: accountDigits(accountId),
    SentTimestamp: String(sequenceMs(row.seq)),
    ApproximateReceiveCount: String(row.delivery_count),
    // When it was first received is not kept: it is now.
    ApproximateFirstReceiveTimestamp: String(Date.now()),
    MessageGroupId: isFifo ? (row.group_id ?? '') : group,
    MessageDeduplicationId: row.deduplication_id ?? undefined,
    SequenceNumber: isFifo ? sequenceNumber(row.seq) : undefined,
    AWSTraceHeader: trace,
    DeadLetterQueueSourceArn: row.source_queue_id === null ? undefined : sources.get(row.source_queue_id),
  }).filter(([name, value]) => value !== undefined && show.system(name));
  return {
    MessageId: state.ids.messageId(accountId, row.seq),
    ReceiptHandle: state.ids.receipt(accountId, row.seq, row.attempt),
    MD5OfBody: md5(body),
    Body: body,
    ...(system.length === 0 ? {} : { Attributes: Object.fromEntries(system) }),
    ...(shown.size === 0
      ? {}
      : { MessageAttributes: attributeFields(shown), MD5OfMessageAttributes: attributesMd5(shown) }),
  };
}

/** An old handle does nothing, and is no failure. Throws ReceiptHandleIsInvalid for what never was one. */
export const deleteMessage: SqsAction = async (call) => {
  const ref = refOf(call, call.fields);
  await call.request.perform('queue.ack', async () => ({
    data: await call.state.acking.add(await keyOf(call), [ref]),
  }));
  return {};
};

export const deleteMessageBatch: SqsAction = async (call) => {
  const entries = batchEntries(call.fields);
  const { data } = await call.request.perform('queue.ack', async () => {
    const key = await keyOf(call);
    const acknowledge = async ({ fields }: Entry) => {
      await call.state.acking.add(key, [refOf(call, fields)]);
      return {};
    };
    return { data: await batchOutcome(entries, acknowledge) };
  });
  return data as Fields;
};

async function keyOf(call: SqsCall): Promise<string> {
  return queueKey(call.accountId, (await theHotQueue(call)).name);
}

function refOf({ state, accountId }: SqsCall, fields: Fields) {
  const handle = handleOf(fields);
  const ref = state.ids.parse(accountId, handle);
  if (ref?.attempt != null) return ref;
  throw refusal('ReceiptHandleIsInvalid', 'The receipt handle is none that this account was given.', 'ReceiptHandle');
}

function handleOf(fields: Fields): string {
  const handle = optionalText(fields, 'ReceiptHandle');
  if (handle === undefined || handle === '') throw missing('ReceiptHandle');
  return handle;
}

export const changeMessageVisibility: SqsAction = async (call) => {
  const { name } = await theHotQueue(call);
  await changeVisibility(call, name, call.fields);
  return {};
};

export const changeMessageVisibilityBatch: SqsAction = async (call) => {
  const entries = batchEntries(call.fields);
  const { name } = await theHotQueue(call);
  return batchOutcome(entries, async ({ fields }) => {
    await changeVisibility(call, name, fields);
    return {};
  });
};

/** Zero gives the message back. Throws MessageNotInflight where the handle is of an earlier delivery. */
async function changeVisibility(call: SqsCall, queue: string, fields: Fields): Promise<void> {
  refOf(call, fields);
  const seconds = optionalInteger(fields, 'VisibilityTimeout', 0, VISIBILITY_SECONDS_MAX);
  if (seconds === undefined) throw missing('VisibilityTimeout');
  const input = { queue, receipt_handle: handleOf(fields) };
  const changed =
    seconds === 0
      ? (await invoke<{ nacked: boolean }>(call, 'queue.nack', input)).nacked
      : (await invoke<{ extended: boolean }>(call, 'queue.extend', { ...input, visibility_timeout: seconds })).extended;
  if (!changed)
    throw refusal('MessageNotInflight', 'The message is not in flight under this handle any more.', 'ReceiptHandle');
}
