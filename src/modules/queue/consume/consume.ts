// Consume: calls of one queue share a claim; a call that finds nothing may wait for messages.

import { scopesAllow } from '../../../core/callers/scopes.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../../../problems/problem.ts';
import { deadLetter, isExhausted } from '../dead-letter/dead-letter.ts';
import { claimFifo } from '../fifo/consume.ts';
import { undeliver } from '../messages/store.ts';
import type { QueueRow } from '../queues/records.ts';
import { holdQueue, holdQueueById } from '../queues/store.ts';
import { type ConsumeCall, type QueueBase, type QueueState, queueKey } from '../state.ts';
import { type ClaimedRow, claimMessages } from './claim.ts';

/** Shorter answers are bounded by how many calls may run. */
const COUNTED_CHARACTERS_MIN = 16 * 1024;

export interface ConsumeOptions {
  readonly queue: string;
  readonly messages: number;
  readonly waitMs: number;
  /** Seconds; undefined = the queue's own. */
  readonly visibilityTimeout: number | undefined;
}

/** Leases up to `messages` messages, waiting up to `waitMs` for the first. */
export async function consume(state: QueueState, ctx: CallContext, options: ConsumeOptions): Promise<ClaimedRow[]> {
  const key = queueKey(ctx.accountId, options.queue);
  const claimKey = `${key}\n${options.visibilityTimeout ?? ''}`;
  const giveUpAt = performance.now() + options.waitMs;
  for (;;) {
    const rows = await state.consuming.add(claimKey, { messages: options.messages, ctx });
    const leftMs = giveUpAt - performance.now();
    if (rows.length > 0 || leftMs <= 0 || state.waiters.stopped) return rows;
    ctx.idle();
    await state.waiters.wait(key, leftMs, ctx.signal);
    if (ctx.signal.aborted) return [];
    await confirmKey(ctx);
  }
}

/** The key may have been revoked or narrowed, or the account suspended, while the call waited. */
async function confirmKey(ctx: CallContext): Promise<void> {
  const { kind } = ctx.principal;
  const now = await kind.again(ctx.principal);
  if (typeof now === 'string') throw kind.refusal(now);
  if (now.suspended) throw problem('ACCOUNT_SUSPENDED');
  if (!scopesAllow(now.scopes, ctx.capability, 'write')) throw problem('INSUFFICIENT_SCOPE');
}

/** One claim for several callers of an account: `key` names account, queue and visibility timeout. */
export async function claimFor(base: QueueBase, key: string, calls: readonly ConsumeCall[]): Promise<ClaimedRow[][]> {
  calls[0]?.ctx.requireAnswerRoom();
  const claimed = await claimTogether(
    base,
    key,
    calls.map(({ messages }) => messages),
  );
  // Leased messages cannot be taken back: they are delivered, and whoever comes next is refused.
  for (const [i, rows] of claimed.entries()) {
    const characters = rows.reduce((total, { payload }) => total + payload.length, 0);
    if (characters > COUNTED_CHARACTERS_MIN) calls[i]?.ctx.holdMade(characters);
  }
  return claimed;
}

function claimTogether(base: QueueBase, key: string, wanted: readonly number[]): Promise<ClaimedRow[][]> {
  const [accountId = '', name = '', visibility = ''] = key.split('\n');
  return base.cache.with(accountId, name, async (queue) => {
    const leaseSeconds = visibility === '' ? queue.visibility_timeout_default : Number(visibility);
    const claimed =
      queue.type === 'fifo'
        ? await claimFifoTogether(base, queue, wanted, { leaseSeconds })
        : deal(await claimStandard(base, queue, sum(wanted), leaseSeconds), wanted);
    if (claimed.some((rows) => rows.length > 0)) return claimed;
    const fresh = await base.cache.refresh(accountId, name);
    return fresh.queue_id === queue.queue_id && fresh.revision === queue.revision ? claimed : 'stale';
  });
}

function sum(wanted: readonly number[]): number {
  return wanted.reduce((total, count) => total + count, 0);
}

/** In order: the first caller's messages come first. */
function deal(rows: readonly ClaimedRow[], wanted: readonly number[]): ClaimedRow[][] {
  let at = 0;
  return wanted.map((count) => {
    at += count;
    return rows.slice(at - count, at);
  });
}

/** One transaction, but a claim per caller: a group that one of them holds is blocked for the others. */
export async function claimFifoTogether(
  { core, ids }: QueueBase,
  queue: QueueRow,
  wanted: readonly number[],
  { leaseSeconds, perGroupMax }: { leaseSeconds: number; perGroupMax?: number },
): Promise<ClaimedRow[][]> {
  return core.db.transaction(async (tx) => {
    const held = await holdQueue(tx, queue.account_id, queue.name);
    if (held === null || held.queue_id !== queue.queue_id || held.revision !== queue.revision)
      return wanted.map(() => []);
    const claimed: ClaimedRow[][] = [];
    for (const limit of wanted) {
      const earlier = claimed.at(-1);
      // Who comes after one that found nothing will not find anything either.
      claimed.push(
        earlier?.length === 0
          ? []
          : await claimFifo(tx, { ids, queue: held, limit, perGroupMax, leaseMs: leaseSeconds * 1000 }),
      );
    }
    return claimed;
  }, queue.account_id);
}

/** Leases up to `limit` messages of a standard queue, in the order of delivery. Empty also when `queue` is stale. */
export async function claimStandard(
  base: QueueBase,
  queue: QueueRow,
  limit: number,
  leaseSeconds: number,
): Promise<ClaimedRow[]> {
  const { core } = base;
  const claimed: ClaimedRow[] = [];
  for (;;) {
    const rows = await claimMessages(core.db.hot, queue, limit - claimed.length, leaseSeconds);
    const spent = queue.dlq_id === null ? [] : rows.filter((row) => row.received > queue.max_receive_count);
    claimed.push(...rows.filter((row) => !spent.includes(row)));
    if (spent.length === 0) return claimed;
    // The limit was lowered after these had been delivered as often as it now allows.
    await giveUp(base, queue, spent);
  }
}

async function giveUp({ core, ids }: QueueBase, queue: QueueRow, rows: readonly ClaimedRow[]): Promise<void> {
  await core.db.transaction(async (tx) => {
    const held = await holdQueueById(tx, queue.account_id, queue.queue_id);
    if (held === null) return;
    const attempts = new Map(rows.map((row) => [row.seq, row.attempt]));
    const nowMs = await clockNow(tx);
    const locked = await undeliver(tx, held, attempts, nowMs);
    await deadLetter(
      tx,
      { ids, queue: held, nowMs, requestId: null },
      locked.filter((message) => isExhausted(held, message)),
    );
  }, queue.account_id);
}
