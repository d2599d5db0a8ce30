// Dead-lettering of messages whose last allowed lease has ended, or that a consumer gave up: moved once, with an event each.

import { sendEvents } from '../../../core/events/outbox.ts';
import { DATA_BYTES_MAX } from '../../../core/events/wire.ts';
import type { Transaction } from '../../../db/database.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { iso } from '../../../lib/time.ts';
import { sendGroups } from '../fifo/store.ts';
import type { MessageIds } from '../messages/message-id.ts';
import { type LockedMessage, moveMessagesToDlq, removeMessages } from '../messages/store.ts';
import { CountChanges } from '../queues/counts.ts';
import type { QueueRow } from '../queues/records.ts';
import { holdQueueById } from '../queues/store.ts';

/** Whether a message has had all deliveries that its queue allows. Never true without a dead-letter queue. */
export function isExhausted(queue: QueueRow, message: { delivery_count: number; delivery_base: number }): boolean {
  return queue.dlq_id !== null && message.delivery_count - message.delivery_base >= queue.max_receive_count;
}

export interface DeadLetter {
  readonly ids: MessageIds;
  readonly queue: QueueRow;
  readonly nowMs: number;
  readonly requestId: string | null;
}

/**
 * Moves locked messages to the dead-letter queue, or drops them when there is none. Counts and events go with the transaction.
 * The transaction must hold `queue` (holdQueue), so that its dead-letter queue is the one of this moment.
 */
export async function deadLetter(
  tx: Transaction,
  options: DeadLetter,
  messages: readonly LockedMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  const { queue, nowMs, ids } = options;
  const accountId = queue.account_id;
  const seqs = messages.map((message) => message.seq);
  const dlq = queue.dlq_id === null ? null : await holdQueueById(tx, accountId, queue.dlq_id);
  const counts = new CountChanges();
  counts.add(accountId, queue.queue_id, { live: -messages.length });
  for (const { source_queue_id } of messages)
    if (source_queue_id !== null) counts.add(accountId, source_queue_id, { dead: -1 });
  if (dlq === null) {
    await removeMessages(tx, accountId, queue.queue_id, seqs);
    counts.send(tx);
    return;
  }
  const move = {
    accountId,
    fromQueueId: queue.queue_id,
    toQueueId: dlq.queue_id,
    toEnablesPriority: dlq.enable_priority,
    nowMs,
  };
  const payloads = await moveMessagesToDlq(tx, move, seqs);
  counts.add(accountId, queue.queue_id, { dead: messages.length });
  counts.add(accountId, dlq.queue_id, { live: messages.length });
  counts.send(tx);
  const grouped = messages.filter((message) => message.group_id !== null);
  if (grouped.length > 0) {
    sendGroups(
      tx,
      grouped.map((message) => ({
        accountId,
        queueId: dlq.queue_id,
        groupId: message.group_id as string,
        headSeq: message.seq,
        readyMs: nowMs,
      })),
    );
  }
  sendEvents(
    tx,
    messages.map((message) => ({
      accountId,
      type: 'queue.dlq',
      data: eventData(eventRecord(ids, queue, dlq, message, nowMs), payloads.get(message.seq) ?? null),
      requestId: options.requestId,
    })),
    nowMs,
  );
}

/** The message's record, as JSON text without its closing brace. */
function eventRecord(ids: MessageIds, queue: QueueRow, dlq: QueueRow, message: LockedMessage, nowMs: number): string {
  return JSON.stringify({
    message_id: ids.messageId(queue.account_id, message.seq),
    queue: queue.name,
    dlq_name: dlq.name,
    account_id: queue.account_id,
    status: 'dlq',
    delivery_count: message.delivery_count,
    published_at: iso(sequenceMs(message.seq)),
    dead_lettered_at: iso(nowMs),
    priority: message.priority,
    message_group_id: message.group_id === '' ? null : message.group_id,
    deduplication_id: message.deduplication_id,
    reason: message.reason,
  }).slice(0, -1);
}

/** The payload is the source text, and left out when the event cannot hold it. */
function eventData(record: string, payload: string | null): JsonText {
  const whole = `{"object":${record},"payload":${payload}}}`;
  if (payload !== null && Buffer.byteLength(whole) <= DATA_BYTES_MAX) return new JsonText(whole);
  return new JsonText(`{"object":${record},"payload":null},"truncated":true}`);
}
