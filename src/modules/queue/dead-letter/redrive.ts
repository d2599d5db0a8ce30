// Redrive: moves messages from the dead-letter queue back to their queue, all at once or at a rate, in bounded transactions.

import { clockNow } from '../../../core/database-clock.ts';
import { type Database, sqlState, type Transaction } from '../../../db/database.ts';
import { problem } from '../../../problems/problem.ts';
import { lockGroupsOf, refreshGroups, sendGroups } from '../fifo/store.ts';
import { moveMessagesBack } from '../messages/store.ts';
import { CountChanges } from '../queues/counts.ts';
import type { QueueRow } from '../queues/records.ts';
import { holdQueueById } from '../queues/store.ts';
import {
  addRedrive,
  type DeadRef,
  findDeadMessages,
  lockDeadMessages,
  type NewRedrive,
  type RedriveRow,
  saveRedrive,
  takeRedrive,
} from './redrive-store.ts';

const CHUNK = 500;

/** Moves messages until the redrive has ended, or, with a rate, as many as are due by now. Wakes consumers per chunk. */
export async function advanceRedrive(
  db: Database,
  accountId: string,
  redriveId: string,
  wake: (queue: string, messages: number) => void,
): Promise<void> {
  for (;;) {
    const step = await db.transaction((tx) => advanceOnce(tx, accountId, redriveId), accountId);
    if (step.queue !== null && step.moved > 0) wake(step.queue, step.moved);
    if (!step.more) return;
  }
}

/**
 * Notes a redrive; without a rate it is completed in the same transaction, so that its answer is stored with it.
 * Throws STATE_CONFLICT while another one of the queue is running.
 */
export async function startRedrive(tx: Transaction, redrive: Omit<NewRedrive, 'nowMs'>): Promise<void> {
  await noteRedrive(tx, redrive);
  if (redrive.ratePerSecond !== null) return;
  while ((await advanceOnce(tx, redrive.accountId, redrive.redriveId)).more) {
    // in chunks, so that no statement takes long
  }
}

/** Notes a redrive that is running from now on. Throws STATE_CONFLICT while another one of the queue is. */
export async function noteRedrive(tx: Transaction, redrive: Omit<NewRedrive, 'nowMs'>): Promise<void> {
  const nowMs = await clockNow(tx);
  try {
    await addRedrive(tx, { ...redrive, nowMs });
  } catch (error) {
    // The unique index of running ones refuses, or waits for one that is being started.
    if (['23505', '55P03'].includes(sqlState(error) ?? '')) throw alreadyRunning(error);
    throw error;
  }
}

function alreadyRunning(cause: unknown) {
  const message = 'A redrive of this queue is running. Wait for it or cancel it.';
  return problem('STATE_CONFLICT', { param: 'queue', detail: 'redrive_running', message, cause });
}

interface Step {
  readonly queue: string | null;
  readonly moved: number;
  readonly more: boolean;
}

const nothing: Step = { queue: null, moved: 0, more: false };

async function advanceOnce(tx: Transaction, accountId: string, redriveId: string): Promise<Step> {
  const redrive = await takeRedrive(tx, accountId, redriveId);
  if (redrive === null || redrive.state !== 'running') return nothing;
  const nowMs = await clockNow(tx);
  const source = await holdQueueById(tx, accountId, redrive.queue_id);
  if (source === null) {
    await saveRedrive(tx, redrive, redrive.moved, 'failed', nowMs);
    return nothing;
  }
  const left = (redrive.requested ?? Number.MAX_SAFE_INTEGER) - redrive.moved;
  const due = Math.min(left, dueNow(redrive, nowMs));
  const limit = Math.min(CHUNK, due);
  const dead = limit <= 0 ? [] : await findDeadMessages(tx, accountId, source.queue_id, redrive.message_seqs, limit);
  let moved = 0;
  for (const part of byQueue(dead)) moved += await moveBack(tx, source, part, nowMs);
  const isOver = left <= moved || (limit > 0 && dead.length < limit);
  await saveRedrive(tx, redrive, redrive.moved + moved, isOver ? 'completed' : 'running', isOver ? nowMs : null);
  return { queue: source.name, moved, more: !isOver && due > moved };
}

/** How many messages the rate allows at this moment. */
function dueNow(redrive: RedriveRow, nowMs: number): number {
  if (redrive.rate_per_second === null) return Number.MAX_SAFE_INTEGER;
  const allowed = Math.floor(((nowMs - redrive.created_at) / 1000) * redrive.rate_per_second);
  return Math.max(0, allowed - redrive.moved);
}

/** A queue that changed its dead-letter queue has messages in several. */
function byQueue(dead: readonly DeadRef[]): DeadRef[][] {
  const groups = new Map<bigint, DeadRef[]>();
  for (const message of dead) groups.set(message.queue_id, [...(groups.get(message.queue_id) ?? []), message]);
  return [...groups.values()];
}

/** Answers how many were moved. Locks groups of the queue, then those of its dead-letter queue, then messages, as dead-lettering does. */
async function moveBack(
  tx: Transaction,
  source: QueueRow,
  messages: readonly DeadRef[],
  nowMs: number,
): Promise<number> {
  const accountId = source.account_id;
  const dlqId = (messages[0] as DeadRef).queue_id;
  openGroups(tx, source, messages, nowMs);
  const found = messages.map((message) => message.seq);
  const groups = source.type === 'fifo' ? await lockGroupsOf(tx, accountId, dlqId, found) : [];
  const seqs = await lockDeadMessages(tx, accountId, source.queue_id, dlqId, found);
  await moveMessagesBack(
    tx,
    { accountId, fromQueueId: dlqId, toQueueId: source.queue_id, toEnablesPriority: source.enable_priority, nowMs },
    seqs,
  );
  await refreshGroups(tx, accountId, dlqId, groups);
  const counts = new CountChanges();
  counts.add(accountId, dlqId, { live: -seqs.length });
  counts.add(accountId, source.queue_id, { live: seqs.length, dead: -seqs.length });
  counts.send(tx);
  return seqs.length;
}

/** A group opened for a message that does not come after all is removed by the next claim that looks at it. */
function openGroups(tx: Transaction, source: QueueRow, messages: readonly DeadRef[], nowMs: number): void {
  const grouped = messages.filter((message) => message.group_id !== null);
  if (grouped.length > 0) {
    sendGroups(
      tx,
      grouped.map(({ seq, group_id }) => ({
        accountId: source.account_id,
        queueId: source.queue_id,
        groupId: group_id as string,
        headSeq: seq,
        readyMs: nowMs,
      })),
    );
  }
}
