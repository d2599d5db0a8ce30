// nack: returns messages to their queue, or moves them to the dead-letter queue. Fenced like ack and extend (ack.ts).
import { clockNow } from '../../../core/database-clock.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { deadLetter, isExhausted } from '../dead-letter/dead-letter.ts';
import { returnLapsed } from '../fifo/consume.ts';
import { giveBack } from '../fifo/give-back.ts';
import { inFlightOf, returnedByNack } from '../fifo/rules.ts';
import { lockGroupsOf, readMessages, refreshGroups } from '../fifo/store.ts';
import type { MessageIds, MessageRef } from '../messages/message-id.ts';
import { type LockedMessage, lockMessages, noteReason, returnMessages } from '../messages/store.ts';
import { problem } from '../problems.ts';
import type { QueueRow } from '../queues/records.ts';
import { holdQueue } from '../queues/store.ts';

export interface Nacked {
  readonly nacked: boolean;
  readonly status: 'available' | 'dlq' | 'deleted' | null;
  readonly deliveryCount: number | null;
  readonly availableMs: number | null;
}

export interface NackOptions {
  readonly ids: MessageIds;
  readonly delayMs: number;
  readonly requeue: boolean;
  /** Kept with the messages; null keeps what an earlier nack said. */
  readonly reason: string | null;
  /** Null when no call of the account gives the messages back. */
  readonly requestId: string | null;
}

const notNacked: Nacked = { nacked: false, status: null, deliveryCount: null, availableMs: null };

/** Gives messages back, or up. In order of `refs`. */
export async function nackMessages(
  db: Database,
  queue: QueueRow,
  refs: readonly MessageRef[],
  options: NackOptions,
): Promise<Nacked[]> {
  return db.transaction(async (tx) => {
    const held = await holdQueue(tx, queue.account_id, queue.name);
    if (held === null) throw problem('QUEUE_NOT_FOUND', { param: 'queue' });
    return held.type === 'fifo' ? nackFifo(tx, held, refs, options) : nackStandard(tx, held, refs, options);
  }, queue.account_id);
}

async function nackStandard(
  tx: Transaction,
  queue: QueueRow,
  refs: readonly MessageRef[],
  options: NackOptions,
): Promise<Nacked[]> {
  const { account_id: accountId, queue_id: queueId } = queue;
  const [locked, nowMs] = await Promise.all([
    lockMessages(
      tx,
      accountId,
      queueId,
      refs.map((ref) => ref.seq),
    ),
    clockNow(tx),
  ]);
  // A last lease that has ended is over: the message is the dead-letter queue's, moved already or not.
  const isOver = (message: LockedMessage) => message.visible_at <= nowMs && isExhausted(queue, message);
  const live = currentOf(locked, refs).filter((message) => !isOver(message));
  const current = await withReason(tx, queue, live, options.reason);
  const availableMs = nowMs + options.delayMs;
  const dead = current.filter((message) => !options.requeue || isExhausted(queue, message));
  const back = current.filter((message) => !dead.includes(message));
  await deadLetter(tx, { ids: options.ids, queue, nowMs, requestId: options.requestId }, dead);
  await returnMessages(
    tx,
    accountId,
    queueId,
    back.map((message) => message.seq),
    availableMs,
  );
  return answers(refs, current, new Set(dead.map((message) => message.seq)), queue, availableMs, nowMs);
}

/** What is requeued takes every later delivered message of its group along; what is given up leaves their leases as they are. */
async function nackFifo(
  tx: Transaction,
  queue: QueueRow,
  refs: readonly MessageRef[],
  options: NackOptions,
): Promise<Nacked[]> {
  const { account_id: accountId, queue_id: queueId } = queue;
  const seqs = refs.map((ref) => ref.seq);
  const groups = await lockGroupsOf(tx, accountId, queueId, seqs);
  const nowMs = await clockNow(tx);
  await returnLapsed(tx, { ids: options.ids, queue }, groups, nowMs);
  const delivered = groups.flatMap((group) => group.in_flight);
  const inFlight = await readMessages(tx, accountId, queueId, delivered);
  const current = await withReason(tx, queue, currentOf(inFlight, refs), options.reason);
  const telling = { ids: options.ids, queue, nowMs, requestId: options.requestId };
  const nacked = new Map(current.map((message) => [message.seq, message]));
  const held = inFlight.map((message) => nacked.get(message.seq) ?? message);
  const named = new Set(nacked.keys());
  const returned = groups.flatMap((group) =>
    options.requeue ? returnedByNack(inFlightOf(group, held), named, { nowMs, delayMs: options.delayMs }) : [],
  );
  let dead: ReadonlySet<bigint> = named;
  if (options.requeue) dead = await giveBack(tx, telling, returned);
  else await deadLetter(tx, telling, current);
  await refreshGroups(tx, accountId, queueId, groups);
  const uncounted = new Set(returned.filter((one) => one.isNeighbour).map((one) => one.message.seq));
  const shown = current.map((message) =>
    uncounted.has(message.seq) ? { ...message, delivery_count: message.delivery_count - 1 } : message,
  );
  return answers(refs, shown, dead, queue, nowMs + options.delayMs, nowMs);
}

/** The messages whose current lease a ref names. */
function currentOf<M extends Pick<LockedMessage, 'seq' | 'leased' | 'attempt'>>(
  messages: readonly M[],
  refs: readonly MessageRef[],
): M[] {
  return messages.filter(
    (message) =>
      message.leased &&
      refs.some((ref) => ref.seq === message.seq && (ref.attempt === null || ref.attempt === message.attempt)),
  );
}

/** The messages as they are with this reason, which is stored. */
async function withReason<M extends LockedMessage>(
  tx: Transaction,
  queue: QueueRow,
  messages: readonly M[],
  reason: string | null,
): Promise<readonly M[]> {
  if (reason === null) return messages;
  const seqs = messages.map((message) => message.seq);
  await noteReason(tx, queue.account_id, queue.queue_id, seqs, reason);
  return messages.map((message) => ({ ...message, reason }));
}

function answers(
  refs: readonly MessageRef[],
  current: readonly Pick<LockedMessage, 'seq' | 'attempt' | 'delivery_count'>[],
  dead: ReadonlySet<bigint>,
  queue: QueueRow,
  availableMs: number,
  nowMs: number,
): Nacked[] {
  const open = new Map(current.map((message) => [message.seq, message]));
  return refs.map((ref) => {
    const message = open.get(ref.seq);
    if (message === undefined || (ref.attempt !== null && ref.attempt !== message.attempt)) return notNacked;
    open.delete(ref.seq);
    const isDead = dead.has(ref.seq);
    const status = !isDead ? 'available' : queue.dlq_id === null ? 'deleted' : 'dlq';
    return { nacked: true, status, deliveryCount: message.delivery_count, availableMs: isDead ? nowMs : availableMs };
  });
}
