// Replaces blocks by others in one commit, under row locks, so each record is in exactly one listed block. Replaced blocks stay readable for one
// minute, for queries that have already listed them.

import { clockNow } from '../core/database-clock.ts';
import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { BlockDraft, BlockKind, BlockRef } from './block.ts';
import { keysOf } from './list.ts';
import { sendBlocks } from './send.ts';

const lockBlocks = statement(
  'block_lock',
  `SELECT b.block_id FROM core.block b
    WHERE b.account_id = $1 AND b.kind = $2 AND b.replaced_ms IS NULL
      AND (b.seq, b.block_id, b.level) IN (SELECT u.seq, u.id, u.level FROM unnest($3::bigint[], $4::bigint[], $5::smallint[]) u(seq, id, level))
    ORDER BY b.seq, b.block_id FOR UPDATE`,
);
const markReplaced = statement(
  'block_mark_replaced',
  `UPDATE core.block b SET replaced_ms = $6 FROM unnest($3::bigint[], $4::bigint[], $5::smallint[]) u(seq, id, level)
    WHERE b.account_id = $1 AND b.kind = $2 AND b.seq = u.seq AND b.block_id = u.id AND b.level = u.level`,
);

/**
 * Puts drafts in place of blocks, which are in the order of their IDs. False when one of them was replaced or deleted meanwhile: nothing
 * is changed then. There are no more drafts than blocks: each takes the ID of one, and so keeps its place among the others.
 */
export async function replaceBlocks(
  db: Database,
  kind: BlockKind,
  accountId: string,
  sources: readonly BlockRef[],
  drafts: readonly BlockDraft[],
): Promise<boolean> {
  if (drafts.length > sources.length) throw new Error(`${drafts.length} blocks for ${sources.length} of ${kind.name}`);
  const level = Math.max(...sources.map((source) => source.level)) + 1;
  const keys = keysOf(sources);
  return db.transaction(async (tx) => {
    const { count } = await tx.query(lockBlocks, [accountId, kind.name, ...keys]);
    if (count !== sources.length) return false;
    const nowMs = await clockNow(tx);
    const marked = tx.query(markReplaced, [accountId, kind.name, ...keys, nowMs]);
    // Both may begin with the same record and have the same ID: the level tells them apart.
    const sent = drafts.map((draft, i) => ({ accountId, blockId: (sources[i] as BlockRef).blockId, draft }));
    sendBlocks(tx, kind, sent, level);
    if ((await marked).count !== sources.length) throw new Error(`a locked block of ${kind.name} was not replaced`);
    return true;
  }, accountId);
}
