// Consume of a FIFO queue: locks ready groups, returns expired leases and leases the head messages, in one transaction.

import { clockNow } from '../../../core/database-clock.ts';
import { int8Array, timestampArray } from '../../../db/arrays.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { ClaimedRow } from '../consume/claim.ts';
import { deadLetter, isExhausted } from '../dead-letter/dead-letter.ts';
import type { MessageIds } from '../messages/message-id.ts';
import { removeRetained, retainedSinceMs } from '../messages/retention.ts';
import type { ForeignPart, QueueRow } from '../queues/records.ts';
import { giveBack } from './give-back.ts';
import { deliverable, inFlightOf, lapsedLeases, type Return } from './rules.ts';
import {
  type GroupRow,
  type HeadMessage,
  type HeldMessage,
  readGroupHeads,
  readMessages,
  refreshGroups,
  takeLapsedGroups,
  takeReadyGroups,
} from './store.ts';

const leaseMessages = statement(
  'fifo_lease',
  `UPDATE queue.message m
      SET visible_at = u.lease_end, leased = true, attempt = m.attempt + 1, delivery_count = m.delivery_count + 1
     FROM unnest($3::bigint[], $4::timestamptz[]) u(seq, lease_end)
    WHERE m.account_id = $1 AND m.queue_id = $2 AND m.seq = u.seq
   RETURNING m.seq, m.headers, m.payload, m.sqs`,
);

export interface FifoClaim {
  readonly ids: MessageIds;
  readonly queue: QueueRow;
  readonly limit: number;
  /** Messages of one group at most; `limit` when absent. */
  readonly perGroupMax?: number;
  readonly leaseMs: number;
}

/**
 * Leases up to `limit` messages; several consecutive ones of a group may come together. In the order of delivery.
 * A group that turns out to be blocked or empty does not hide the ones behind it.
 */
export async function claimFifo(tx: Transaction, claim: FifoClaim): Promise<ClaimedRow[]> {
  const { account_id: accountId, queue_id: queueId } = claim.queue;
  const looked: string[] = [];
  const claimed: ClaimedRow[] = [];
  while (claimed.length < claim.limit) {
    const left = claim.limit - claimed.length;
    const groups = await takeReadyGroups(tx, accountId, queueId, left, looked);
    if (groups.length === 0) break;
    looked.push(...groups.map((group) => group.group_id));
    claimed.push(...(await claimFromGroups(tx, { ...claim, limit: left }, groups)));
    if (groups.length < left) break;
  }
  return claimed;
}

async function claimFromGroups(tx: Transaction, claim: FifoClaim, groups: readonly GroupRow[]): Promise<ClaimedRow[]> {
  const { queue, limit, leaseMs, perGroupMax = limit } = claim;
  const { account_id: accountId, queue_id: queueId } = queue;
  const nowMs = await clockNow(tx);
  const blocked = await returnLapsed(tx, claim, groups, nowMs);
  const names = groups.map((group) => group.group_id).filter((name) => !blocked.has(name));
  const heads = await readLiveHeads(tx, claim, names, nowMs);
  const taken: HeldMessage[] = [];
  for (const name of names) {
    taken.push(
      ...deliverable(
        heads.filter((head) => head.group_id === name),
        nowMs,
        Math.min(limit - taken.length, perGroupMax),
      ),
    );
  }
  const bodies = await lease(tx, queue, taken, nowMs + leaseMs);
  const seqs = taken.map((message) => message.seq);
  await refreshGroups(tx, accountId, queueId, groups, seqs);
  return taken.map((message) => ({
    ...message,
    ...(bodies.get(message.seq) as Body),
    attempt: message.attempt + 1,
    delivery_count: message.delivery_count + 1,
    received: message.delivery_count + 1 - message.delivery_base,
    order_band: 0,
    available_at: message.visible_at,
    lease_end: nowMs + leaseMs,
  }));
}

interface Body extends ForeignPart {
  readonly seq: bigint;
  readonly headers: string | null;
  readonly payload: string;
}

/** What the messages carry, by seq: read once, and of no others. */
async function lease(
  tx: Transaction,
  { account_id, queue_id }: QueueRow,
  messages: readonly HeldMessage[],
  endMs: number,
): Promise<Map<bigint, Body>> {
  if (messages.length === 0) return new Map();
  const { rows } = await tx.query<Body>(leaseMessages, [
    account_id,
    queue_id,
    int8Array(messages.map((message) => message.seq)),
    timestampArray(messages.map(() => endMs)),
  ]);
  return new Map(rows.map((row) => [row.seq, row]));
}

/**
 * The first messages of the groups, once what may not be delivered is gone: past retention, or delivered as often as a limit
 * lowered since allows.
 */
async function readLiveHeads(
  tx: Transaction,
  { ids, queue, limit, perGroupMax = limit }: FifoClaim,
  names: readonly string[],
  nowMs: number,
): Promise<HeadMessage[]> {
  const { account_id: accountId, queue_id: queueId } = queue;
  for (;;) {
    const heads = await readGroupHeads(tx, accountId, queueId, names, Math.min(limit, perGroupMax));
    const overdue = heads.filter((head) => retainedSinceMs(head) <= nowMs - queue.retention_seconds * 1000);
    const spent = heads.filter((head) => !overdue.includes(head) && !head.leased && isExhausted(queue, head));
    if (overdue.length + spent.length === 0) return heads;
    await removeRetained(tx, queue, overdue);
    await deadLetter(tx, { ids, queue, nowMs, requestId: null }, spent);
  }
}

/** Returns the messages of lapsed leases of up to `limit` groups without delivering anything. Answers whether there may be more. */
export async function returnLapsedGroups(
  tx: Transaction,
  ids: MessageIds,
  queue: QueueRow,
  limit: number,
): Promise<boolean> {
  const groups = await takeLapsedGroups(tx, queue.account_id, queue.queue_id, limit);
  if (groups.length === 0) return false;
  await returnLapsed(tx, { ids, queue }, groups, await clockNow(tx));
  await refreshGroups(tx, queue.account_id, queue.queue_id, groups);
  return groups.length === limit;
}

/** Answers the groups that running leases still block. */
export async function returnLapsed(
  tx: Transaction,
  { ids, queue }: Pick<FifoClaim, 'ids' | 'queue'>,
  groups: readonly GroupRow[],
  nowMs: number,
): Promise<Set<string>> {
  const messages = await readMessages(
    tx,
    queue.account_id,
    queue.queue_id,
    groups.flatMap((group) => group.in_flight),
  );
  const blocked = new Set<string>();
  const returned: Return[] = [];
  for (const group of groups) {
    const lapsed = lapsedLeases(inFlightOf(group, messages), nowMs);
    if (lapsed.running.length > 0) blocked.add(group.group_id);
    returned.push(...lapsed.returned);
  }
  await giveBack(tx, { ids, queue, nowMs, requestId: null }, returned);
  return blocked;
}
