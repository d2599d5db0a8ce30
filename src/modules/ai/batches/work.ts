// Background work of batch items: each is one model call under the key that created its batch, with concurrency limits of its own. The end of an
// item is written in the transaction that charges it, so a request that a crash repeats is charged once.

import { dueWork, type Wanted } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { DEATHS_MAX } from '../../../core/background/suspects.ts';
import type { Transaction } from '../../../db/database.ts';
import { rideOut } from '../../../db/ride-out.ts';
import { statement } from '../../../db/statement.ts';
import { backoffMs, jitteredMs } from '../../../lib/backoff.ts';
import { FairPlaces } from '../../../lib/fair-places.ts';
import { newId } from '../../../lib/ids.ts';
import { lruOf } from '../../../lib/lru.ts';
import { MINUTE_MS } from '../../../lib/time.ts';
import { Problem } from '../../../problems/problem.ts';
import type { SentChat } from '../calls/ask.ts';
import { chat } from '../calls/chat.ts';
import { embed, type SentEmbed } from '../calls/embed.ts';
import type { ModelCall } from '../calls/model-call.ts';
import { ITEM_LEASE_MS, ITEM_TRIES_MAX, ONE_BATCH_BYTES_MAX } from '../limits.ts';
import { CHAT } from '../models/family.ts';
import { problem } from '../problems.ts';
import type { AiState } from '../state.ts';
import { callerOf, refusesAll } from './caller.ts';
import { HeldBytes, NoRoom } from './held-bytes.ts';
import {
  BATCHES,
  batchBegins,
  claimItems,
  endItem,
  endRemaining,
  type Item,
  type ItemRow,
  putItemBack,
  renewItem,
  tryItemAgain,
} from './items.ts';
import { seal, unseal } from './seal.ts';
import { lockBatch } from './store.ts';

interface BatchItem extends Item {
  /** No other of its account is under way in this process: what its hold lacks is not held by one of those. */
  readonly isAlone: boolean;
}

const readHeld = statement('ai_batch_held', 'SELECT w.held_nanos AS held FROM core.wallet w WHERE w.account_id = $1');

const BACKOFF = { firstMs: 1_000, maxMs: 30_000 };
/** Until what others hold, of the credit or of the memory, is free. */
const HELD_PAUSE_MS = 1_000;
/** What a request takes, of its bytes: as it is stored, as text, and read. */
const REQUEST_COPIES = 3;
const ACCOUNTS_REMEMBERED = 10_000;

/** The loop of one process. */
export function batchLoop(state: AiState): JobLoop {
  const work = new BatchWork(state);
  const { all } = state.core.bounds;
  const loop: JobLoop = dueWork<BatchItem>(state.core, {
    name: BATCHES,
    places: all.batchItemsAtOnce,
    backoff: BACKOFF,
    claim: (tx, accountId, wanted) => work.claim(tx, accountId, wanted),
    async run(item, signal) {
      try {
        await work.run(item, signal);
      } finally {
        // The account may have more that waits for this place.
        loop.wake();
      }
    },
    renewal: { everyMs: ITEM_LEASE_MS / 3, renew: (item) => renewItem(state.core.db, item) },
    putBack: (tx, item, dueMs) => putItemBack(tx, item, dueMs, false),
  });
  return loop;
}

class BatchWork {
  readonly #state: AiState;
  /** Accounts whose credit does not cover several holds at once: one item at a time. */
  readonly #short = lruOf<true>(ACCOUNTS_REMEMBERED, { ttl: MINUTE_MS });
  readonly #bytes: FairPlaces;

  constructor(state: AiState) {
    this.#state = state;
    this.#bytes = new FairPlaces(state.core.bounds.all.batchBytesMax);
  }

  async claim(tx: Transaction, accountId: string, { limit, underWay, suspects }: Wanted) {
    const most = this.#short.has(accountId) ? 1 : this.#state.core.bounds.account.batchItemsAtOnce;
    const room = Math.max(0, Math.min(limit, most - underWay.length));
    const { jobs, ...further } = await claimItems(tx, accountId, { limit: room, underWay, suspects });
    return { ...further, jobs: jobs.map((item) => ({ ...item, isAlone: most === 1 })) };
  }

  async run(item: BatchItem, signal: AbortSignal): Promise<void> {
    // Whoever is short of credit may only wait for what others hold.
    const isHeld = !item.isAlone || (await this.#isHeld(item.accountId));
    const held = new HeldBytes(this.#bytes, item.accountId);
    try {
      held.take(item.row.request.length * REQUEST_COPIES);
      await batchBegins(this.#state.core.db, item);
      await this.#call(item, held, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof NoRoom) await this.#later(item, held);
      else await this.#failItem(item, failureOf(error, this.#state), isHeld);
    } finally {
      held.release();
    }
  }

  async #isHeld(accountId: string): Promise<boolean> {
    const { rows } = await this.#state.core.db.query<{ held: bigint }>(readHeld, [accountId]);
    return (rows[0]?.held ?? 0n) > 0n;
  }

  async #call(item: BatchItem, held: HeldBytes, signal: AbortSignal): Promise<void> {
    const { accountId, row } = item;
    requireRunnable(item);
    const { core } = this.#state;
    const { capability, key_id: keyId } = row;
    const principal = await callerOf(core, { accountId, keyId, capability });
    const call: ModelCall = {
      core,
      accountId,
      tier: principal.tier,
      principal,
      capability,
      scope: 'write',
      requestId: newId('req_'),
      // The batch was approved when it was created.
      approval: null,
      idempotency: null,
      signal,
      warnings: [],
      holdAnswer: (bytes) => held.take(bytes),
      holdMade: (bytes) => held.force(bytes),
      item: {
        mayShrink: item.isAlone,
        end: (tx, text, costNanos) =>
          endItem(tx, item, { response: seal(core, row.batch_id, row.item_no, 'response', text), costNanos }),
      },
    };
    const ask = JSON.parse(unseal(core, row.batch_id, row.item_no, 'request', row.request));
    if (capability !== CHAT) await embed(this.#state, call, ask as SentEmbed);
    else for await (const _ of chat(this.#state, call, ask as SentChat));
  }

  /** Its bytes are free at once, and it does not come again together with the others: else several could keep one another waiting. */
  async #later(item: BatchItem, held: HeldBytes): Promise<void> {
    held.release();
    await tryItemAgain(this.#state.core.db, item, jitteredMs(HELD_PAUSE_MS), false);
  }

  async #failItem(item: BatchItem, failure: Problem, isHeld: boolean): Promise<void> {
    const { accountId, row } = item;
    const { db, usage } = this.#state.core;
    if (failure.code === 'INSUFFICIENT_CREDIT' && isHeld) {
      this.#short.set(accountId, true);
      await tryItemAgain(db, item, item.isAlone ? HELD_PAUSE_MS : 0, false);
      return;
    }
    if (failure.retryable && row.takeovers < DEATHS_MAX && row.tries + 1 < ITEM_TRIES_MAX) {
      await tryItemAgain(db, item, failure.retryAfterMs ?? backoffMs(BACKOFF, row.tries + 1), true);
      return;
    }
    usage.count(accountId, row.key_id, row.capability, true);
    const { batch_id: batchId, item_no: itemNo } = row;
    const sealed = seal(this.#state.core, batchId, itemNo, 'error', failure.message).toString('base64');
    await rideOut(() => db.transaction((tx) => fail(tx, item, failure, sealed), item.accountId));
  }
}

/** Throws what the item fails with before anybody is asked. */
function requireRunnable({ row }: Item): void {
  if (row.ends_as !== null) throw problem('BATCH_ENDED', { detail: row.ends_as });
  if (row.kept_bytes > ONE_BATCH_BYTES_MAX)
    throw problem('QUOTA_EXCEEDED', { message: `The batch keeps more than ${ONE_BATCH_BYTES_MAX} bytes of results.` });
  if (row.takeovers >= DEATHS_MAX) throw givenUp(row);
}

function givenUp({ takeovers }: ItemRow): Problem {
  const message = `The process died ${takeovers} times while this request ran. It is not tried again.`;
  return problem('INTERNAL_ERROR', { message });
}

function failureOf(error: unknown, { core }: AiState): Problem {
  if (error instanceof Problem) return error;
  core.log.error({ err: error, jobs: BATCHES }, 'a request of an AI batch failed by an error of ours');
  return problem('INTERNAL_ERROR', { cause: error });
}

async function fail(
  tx: Transaction,
  item: Item,
  { code, message, retryAfterMs }: Problem,
  sealed: string,
): Promise<void> {
  const error = { code, sealed, ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }) };
  if (!(await endItem(tx, item, { error })) || !refusesAll.has(code)) return;
  const batch = await lockBatch(tx, item.accountId, item.row.batch_id);
  if (batch !== null && batch.finished_at === null)
    await endRemaining(tx, item.accountId, batch, { code, message }, null);
}
