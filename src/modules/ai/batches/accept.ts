// Acceptance of a batch. All of its requests are stored as encrypted rows before the call is answered.

import { setImmediate as turn } from 'node:timers/promises';
import { openTurn } from '../../../core/background/turns.ts';
import { lockAccount } from '../../../core/callers/lock.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { byteaArray, int4Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { BATCH_EXPIRES_MS, BATCHES_KEPT_MAX, batchBytes, liveBatches } from '../limits.ts';
import { problem } from '../problems.ts';
import { BATCHES } from './items.ts';
import type { PackedRequests } from './packed.ts';
import { seal } from './seal.ts';
import { type BatchRow, batchCounts, batchTable } from './store.ts';

const insertBatch = statement(
  'ai_batch_insert',
  `INSERT INTO ai.batch (account_id, batch_id, key_id, status, total, kept_bytes, created_at, expires_at)
   VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7)`,
);
const insertItems = statement(
  'ai_item_insert',
  `INSERT INTO ai.batch_item AS i (account_id, batch_id, item_no, custom_id, capability, request, due_at)
   SELECT w.account_id, $2, u.item_no, u.custom_id, u.capability, u.request, $3::timestamptz
     FROM core.wallet w, unnest($4::int[], $5::text[], $6::text[], $7::bytea[]) u(item_no, custom_id, capability, request)
    WHERE w.account_id = $1`,
);

/** Written at once. */
const PIECE_ROWS = 250;
const PIECE_BYTES = 1024 * 1024;

/** Throws QUOTA_EXCEEDED when the account has as many batches, or keeps as much of them, as its tier may. */
export async function requireRoom(db: Queryable, { accountId, tier }: CallContext, bytes: number): Promise<void> {
  const counts = await batchCounts(db, accountId);
  const quotaExceeded = (message: string, detail: string) => problem('QUOTA_EXCEEDED', { message, detail });
  if (counts.live >= liveBatches[tier])
    throw quotaExceeded(
      `The account has ${counts.live} batches that have not ended; its tier allows ${liveBatches[tier]}.`,
      'live',
    );
  if (counts.kept >= BATCHES_KEPT_MAX)
    throw quotaExceeded(`The account keeps ${counts.kept} batches; each is removed 7 days after its end.`, 'kept');
  if (counts.bytes + bytes > batchBytes[tier])
    throw quotaExceeded(
      `Batches of the account keep ${counts.bytes} bytes; its tier allows ${batchBytes[tier]}.`,
      'bytes',
    );
}

/** In the caller's transaction; the account is locked at its end only. Throws QUOTA_EXCEEDED. */
export async function acceptBatch(tx: Transaction, ctx: CallContext, requests: PackedRequests): Promise<BatchRow> {
  const { accountId } = ctx;
  const nowMs = await clockNow(tx);
  const batchId = newId('aib_', nowMs);
  const bytes = await writeItems(tx, ctx, batchId, requests, nowMs);
  await lockAccount(tx, accountId);
  await requireRoom(tx, ctx, bytes);
  const total = requests.ends.length;
  const times = [timestamp(nowMs), timestamp(nowMs + BATCH_EXPIRES_MS)];
  await Promise.all([
    tx.query(insertBatch, [accountId, batchId, ctx.principal.id, total, BigInt(bytes), ...times]),
    openTurn(tx, accountId, BATCHES, nowMs),
  ]);
  return (await batchTable.find(tx, { accountId }, batchId)) as BatchRow;
}

/** Answers how many bytes are kept. */
async function writeItems(
  tx: Transaction,
  { core, accountId }: CallContext,
  batchId: string,
  { customIds, capabilities, asks, ends }: PackedRequests,
  nowMs: number,
): Promise<number> {
  const whole = Buffer.from(asks.buffer, asks.byteOffset, asks.byteLength);
  const startOf = (i: number) => (i === 0 ? 0 : (ends[i - 1] as number));
  let bytes = 0;
  for (let from = 0, to = 0; from < ends.length; from = to) {
    to = from + 1;
    while (to < ends.length && to - from < PIECE_ROWS && (ends[to] as number) - startOf(from) <= PIECE_BYTES) to += 1;
    const places = Array.from({ length: to - from }, (_, i) => from + i);
    const sealed = places.map((i) => seal(core, batchId, i, 'request', whole.toString('utf8', startOf(i), ends[i])));
    bytes += sealed.reduce((sum, { length }) => sum + length, 0);
    const { count } = await tx.query(insertItems, [
      ...[accountId, batchId, timestamp(nowMs), int4Array(places)],
      ...[textArray(customIds.slice(from, to)), textArray(capabilities.slice(from, to)), byteaArray(sealed)],
    ]);
    if (count !== places.length) throw new Error(`${count} of ${places.length} requests of a batch were written`);
    await turn();
  }
  return bytes;
}
