// Publish as a lane effect: one or many messages per call, set-based over all calls of the commit.

import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { type AcceptedUnits, countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { invalidField, type Problem } from '../../../problems/problem.ts';
import { sendGroups } from '../fifo/store.ts';
import { BATCH_REPEATED_BYTES_MAX, bandOf, DEFAULT_GROUP } from '../limits.ts';
import type { MessageIds } from '../messages/message-id.ts';
import { problem } from '../problems.ts';
import { CountChanges } from '../queues/counts.ts';
import { messageText, type QueueRow } from '../queues/records.ts';
import type { NewMessage, PublishContext, PublishInput, StoredMessage } from './message.ts';
import { readDedup, readQueues, sendDedup, sendMessages } from './store.ts';

type Item = LaneItem<PublishInput, PublishContext>;

export class PublishEffect implements LaneEffect<PublishInput, PublishContext> {
  readonly name = 'queue.publish';
  readonly #ids: MessageIds;
  readonly #wake: (accountId: string, queue: string, messages: number) => void;

  constructor(ids: MessageIds, wake: (accountId: string, queue: string, messages: number) => void) {
    this.#ids = ids;
    this.#wake = wake;
  }

  exclusiveKeys(item: Item): readonly string[] {
    const { queue, messages } = item.input;
    return messages.flatMap(({ deduplicationId }) =>
      deduplicationId === null ? [] : [`${item.accountId}\n${queue}\n${deduplicationId}`],
    );
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<PublishContext>[]> {
    const accounts = textArray([...new Set(items.map((item) => item.accountId))].sort());
    const names = new Map(items.map((item) => [`${item.accountId}\n${item.input.queue}`, item]));
    const targets = [...names.values()];
    const [queues, dedup] = await Promise.all([
      tx.query<QueueRow>(readQueues, [
        accounts,
        textArray(targets.map((item) => item.accountId)),
        textArray(targets.map((item) => item.input.queue)),
      ]),
      this.#readDedup(tx, accounts, items),
    ]);
    const byName = new Map(queues.rows.map((row) => [`${row.account_id}\n${row.name}`, row]));
    return items.map((item) => judge(item, byName.get(`${item.accountId}\n${item.input.queue}`), dedup));
  }

  async #readDedup(tx: Queryable, accounts: Buffer, items: readonly Item[]): Promise<Map<string, string>> {
    const wanted = items.flatMap((item) =>
      item.input.messages.flatMap(({ deduplicationId }) =>
        deduplicationId === null ? [] : [{ item, deduplicationId }],
      ),
    );
    if (wanted.length === 0) return new Map();
    const { rows } = await tx.query<{ account_id: string; name: string; deduplication_id: string; answer: string }>(
      readDedup,
      [
        accounts,
        textArray(wanted.map(({ item }) => item.accountId)),
        textArray(wanted.map(({ item }) => item.input.queue)),
        textArray(wanted.map(({ deduplicationId }) => deduplicationId)),
      ],
    );
    return new Map(rows.map((row) => [`${row.account_id}\n${row.name}\n${row.deduplication_id}`, row.answer]));
  }

  write(tx: Queryable, items: readonly AdmittedItem<PublishInput, PublishContext>[], nowMs: number): string[] {
    const stored: StoredMessage[] = [];
    const dedup: { stored: StoredMessage; text: string }[] = [];
    const counts = new CountChanges();
    const texts = items.map((admitted) => this.#writeOne(admitted, stored, dedup, counts));
    const accounts = textArray([...new Set(items.map(({ item }) => item.accountId))].sort());
    sendMessages(tx, accounts, stored);
    if (dedup.length > 0) sendDedup(tx, accounts, dedup, nowMs);
    const grouped = stored.filter(({ groupId }) => groupId !== null);
    if (grouped.length > 0) {
      sendGroups(
        tx,
        grouped.map(({ accountId, queue, groupId, seq, visibleMs }) => ({
          accountId,
          queueId: queue.queue_id,
          groupId: groupId as string,
          headSeq: seq,
          readyMs: visibleMs,
        })),
      );
    }
    counts.send(tx);
    void countAccepted(tx, items.map(acceptedOf));
    return texts;
  }

  #writeOne(
    { item, context, firstSeq }: AdmittedItem<PublishInput, PublishContext>,
    stored: StoredMessage[],
    dedup: { stored: StoredMessage; text: string }[],
    counts: CountChanges,
  ): string {
    const { queue } = context;
    const texts: string[] = [];
    let fresh = 0;
    item.input.messages.forEach((message, i) => {
      const repeat = context.repeats[i] as number;
      const earlier = repeat >= 0 ? (texts[repeat] as string) : (context.earlier[i] ?? null);
      if (earlier !== null) {
        texts.push(earlier);
        return;
      }
      const one = toStored(item.accountId, queue, message, firstSeq + BigInt(fresh));
      fresh += 1;
      stored.push(one);
      const text = this.#text(one);
      texts.push(text);
      if (message.deduplicationId !== null) dedup.push({ stored: one, text });
    });
    counts.add(item.accountId, queue.queue_id, { live: fresh, published: fresh });
    return item.input.batch ? `{"queue":"${queue.name}","items":[${texts.join(',')}]}` : (texts[0] as string);
  }

  #text(one: StoredMessage): string {
    const { message } = one;
    const row = {
      seq: one.seq,
      delivery_count: 0,
      priority: message.priority ?? 0,
      group_id: one.groupId === DEFAULT_GROUP ? null : one.groupId,
      deduplication_id: message.deduplicationId,
      headers: message.headers,
      payload: message.payload,
    };
    return messageText(this.#ids, row, {
      accountId: one.accountId,
      queue: one.queue.name,
      status: 'available',
      availableMs: one.visibleMs,
      leaseEndMs: null,
    });
  }

  afterCommit(items: readonly AdmittedItem<PublishInput, PublishContext>[]): void {
    for (const { item } of items) this.#wake(item.accountId, item.input.queue, item.input.messages.length);
  }
}

function judge(
  item: Item,
  queue: QueueRow | undefined,
  dedup: ReadonlyMap<string, string>,
): ReadVerdict<PublishContext> {
  if (queue === undefined) return { kind: 'refuse', problem: problem('QUEUE_NOT_FOUND', { param: 'queue' }) };
  const { messages } = item.input;
  for (const [i, message] of messages.entries()) {
    const fault = faultOf(queue, message, item.input.paramOf(i));
    if (fault !== null) return { kind: 'refuse', problem: fault };
  }
  const earlier = messages.map(({ deduplicationId }) =>
    deduplicationId === null ? null : (dedup.get(`${item.accountId}\n${queue.name}\n${deduplicationId}`) ?? null),
  );
  const repeatedBytes = earlier.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  if (repeatedBytes > BATCH_REPEATED_BYTES_MAX) {
    return {
      kind: 'refuse',
      problem: problem('MESSAGE_TOO_LARGE', {
        param: 'items',
        message: `The messages published before under these deduplication ids make an answer of more than ${BATCH_REPEATED_BYTES_MAX / 1024 / 1024} MiB: send fewer at once.`,
      }),
    };
  }
  const repeats = messages.map(({ deduplicationId }, i) => {
    if (deduplicationId === null) return -1;
    const first = messages.findIndex((other) => other.deduplicationId === deduplicationId);
    return first < i ? first : -1;
  });
  const fresh = messages.filter((_, i) => earlier[i] === null && repeats[i] === -1).length;
  if (fresh === 0) {
    const texts = messages.map((_, i) => earlier[i] as string);
    return {
      kind: 'replay',
      text: item.input.batch ? `{"queue":"${queue.name}","items":[${texts.join(',')}]}` : (texts[0] as string),
    };
  }
  return { kind: 'go', context: { queue, earlier, repeats }, units: BigInt(fresh) };
}

const sizeText = (bytes: number) => (bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`);

/** What the queue's own settings forbid. */
function faultOf(queue: QueueRow, message: NewMessage, at: string): Problem | null {
  const bytes =
    message.sqs?.bytes ??
    Buffer.byteLength(message.payload) + (message.headers === null ? 0 : Buffer.byteLength(message.headers));
  if (bytes > queue.max_message_bytes) {
    return problem('MESSAGE_TOO_LARGE', {
      param: `${at}payload`,
      message: `The message has ${bytes} bytes; the queue takes ${sizeText(queue.max_message_bytes)}.`,
    });
  }
  const delaySeconds = message.delaySeconds ?? queue.delivery_delay_seconds;
  if (delaySeconds * 1000 >= queue.retention_seconds * 1000) {
    return invalidField(
      `${at}delay_seconds`,
      'delay_beyond_retention',
      'delay_seconds must be shorter than the retention of the queue.',
    );
  }
  if (queue.type === 'fifo') {
    if (message.priority !== undefined)
      return invalidField(
        `${at}priority`,
        'not_for_fifo',
        'priority is for standard queues; a FIFO queue keeps its order.',
      );
    return null;
  }
  if (message.groupId !== null)
    return invalidField(`${at}message_group_id`, 'fifo_only', 'message_group_id is for FIFO queues.');
  if (message.deduplicationId !== null)
    return invalidField(`${at}deduplication_id`, 'fifo_only', 'deduplication_id is for FIFO queues.');
  return null;
}

function toStored(accountId: string, queue: QueueRow, message: NewMessage, seq: bigint): StoredMessage {
  const delaySeconds = message.delaySeconds ?? queue.delivery_delay_seconds;
  return {
    accountId,
    queue,
    seq,
    visibleMs: sequenceMs(seq) + Math.round(delaySeconds * 1000),
    message,
    groupId: queue.type === 'fifo' ? (message.groupId ?? DEFAULT_GROUP) : null,
    band: bandOf(message.priority ?? 0, queue.enable_priority),
  };
}

/** Messages that are new: neither published before nor repeated within the batch. */
function acceptedOf({ item, context }: AdmittedItem<PublishInput, PublishContext>): AcceptedUnits {
  const units = context.earlier.filter((text, i) => text === null && context.repeats[i] === -1).length;
  return { accountId: item.accountId, capability: item.capability, units: BigInt(units) };
}
