// Retention of blocks. Expired days are deleted account by account; then their partition is dropped. Cold days move to the asset store: first
// the bytes, under a name of their own, then the row. `removeOrphans` removes what a crash leaves there.

import type { AssetsPart } from '../assets/assets.ts';
import { mendEach } from '../core/background/sweeper/sweep.ts';
import type { Core } from '../core/core.ts';
import { clockNow } from '../core/database-clock.ts';
import { dropOldestPartition } from '../db/partitions.ts';
import { statement } from '../db/statement.ts';
import { newId } from '../lib/ids.ts';
import { sequenceAt } from '../lib/sequence.ts';
import { DAY_MS, HOUR_MS, startOfDay } from '../lib/time.ts';
import type { BlockKind } from './block.ts';

const ACCOUNTS_PER_RUN = 200;
const ROWS_PER_STATEMENT = 500;
/** No kind keeps blocks for longer. */
const PARTITION_DAYS_MAX = 400;

type Services = AssetsPart & Pick<Core, 'db' | 'log'>;

const findUsual = statement(
  'block_find_past',
  `/* fan-out: accounts with blocks past the usual time */
   SELECT b.account_id FROM core.block b
    WHERE b.kind = $1 AND b.seq < $2
      AND NOT EXISTS (SELECT 1 FROM core.block_keeping k WHERE k.account_id = b.account_id AND k.kind = b.kind)
    GROUP BY b.account_id LIMIT ${ACCOUNTS_PER_RUN}`,
);
const findOwn = statement(
  'block_find_own_keeping',
  `/* fan-out: accounts with a time of their own that were not looked at today */
   SELECT k.account_id, k.keep_days FROM core.block_keeping k WHERE k.kind = $1 AND k.swept_day < $2 LIMIT ${ACCOUNTS_PER_RUN}`,
);
const deletePast = statement(
  'block_delete_past',
  `WITH c AS MATERIALIZED (
     SELECT b.seq, b.block_id, b.level FROM core.block b
      WHERE b.account_id = $1 AND b.kind = $2 AND b.seq < $3 LIMIT $4 FOR UPDATE SKIP LOCKED)
   DELETE FROM core.block t USING c
    WHERE t.account_id = $1 AND t.kind = $2 AND t.seq = c.seq AND t.block_id = c.block_id AND t.level = c.level
   RETURNING t.asset_key`,
);
const saveSwept = statement(
  'block_save_swept',
  `UPDATE core.block_keeping SET swept_day = $4 WHERE account_id = $1 AND kind = $2 AND keep_days = $3`,
);

/** One run of the sweep; true when there is more to do at once. */
export async function deletePastBlocks(core: Services, kind: BlockKind, signal: AbortSignal): Promise<boolean> {
  const { db } = core;
  // An hour of grace: whoever has just listed them may read them.
  const today = startOfDay((await clockNow(db)) - HOUR_MS);
  const before = (keepDays: number) => sequenceAt(today - keepDays * DAY_MS);
  const usual = await db.query<{ account_id: string }>(findUsual, [kind.name, before(kind.keepDays.standard)]);
  const doneUsual = await mendEach(usual.rows, signal, ({ account_id }) =>
    deleteBefore(core, kind, account_id, before(kind.keepDays.standard), signal),
  );
  const day = today / DAY_MS;
  const own = await db.query<{ account_id: string; keep_days: number }>(findOwn, [kind.name, day]);
  const doneOwn = await mendEach(own.rows, signal, async ({ account_id, keep_days }) => {
    await deleteBefore(core, kind, account_id, before(keep_days), signal);
    if (!signal.aborted) await db.query(saveSwept, [account_id, kind.name, keep_days, day]);
  });
  const dropped = await dropOldestPartition(db, ['core.block'], today - PARTITION_DAYS_MAX * DAY_MS);
  const isFull = [usual, own].some(({ rows }) => rows.length === ACCOUNTS_PER_RUN);
  return doneUsual && doneOwn && (isFull || dropped);
}

async function deleteBefore(core: Services, kind: BlockKind, accountId: string, seq: bigint, signal: AbortSignal) {
  for (let deleted = ROWS_PER_STATEMENT; deleted === ROWS_PER_STATEMENT && !signal.aborted; ) {
    const { rows } = await core.db.query<{ asset_key: string | null }>(deletePast, [
      ...[accountId, kind.name, seq, ROWS_PER_STATEMENT],
    ]);
    await removeAssets(
      core,
      rows.flatMap(({ asset_key }) => asset_key ?? []),
    );
    deleted = rows.length;
  }
}

/** What cannot be removed now is an orphan from here on. */
export async function removeAssets({ assets, log }: Services, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    try {
      await assets.remove(key);
    } catch (error) {
      log.warn({ err: error, key }, 'the columns of a deleted block could not be removed; the sweep will');
    }
  }
}

// Cold blocks.

export const BLOCK_ASSETS = 'blocks/';

const findCold = statement(
  'block_find_cold',
  `/* fan-out: merged blocks of days that are hot no more */
   SELECT b.account_id, b.seq, b.block_id, b.level FROM core.block b
    WHERE b.kind = $1 AND b.seq < $2 AND b.body IS NOT NULL AND b.level > 0 AND b.replaced_ms IS NULL
    LIMIT ${ROWS_PER_STATEMENT}`,
);
const selectBody = statement(
  'block_select_body',
  `SELECT b.body FROM core.block b
    WHERE b.account_id = $1 AND b.kind = $2 AND b.seq = $3 AND b.block_id = $4 AND b.level = $5 AND b.body IS NOT NULL`,
);
const moveBody = statement(
  'block_move_body',
  `UPDATE core.block SET body = NULL, asset_key = $6
    WHERE account_id = $1 AND kind = $2 AND seq = $3 AND block_id = $4 AND level = $5 AND body IS NOT NULL`,
);

interface ColdRow {
  readonly account_id: string;
  readonly seq: bigint;
  readonly block_id: bigint;
  readonly level: number;
}

export async function moveColdBlocks(
  core: Services,
  kind: BlockKind,
  hotDays: number,
  signal: AbortSignal,
): Promise<boolean> {
  const beforeSeq = sequenceAt(startOfDay(await clockNow(core.db)) - hotDays * DAY_MS);
  const { rows } = await core.db.query<ColdRow>(findCold, [kind.name, beforeSeq]);
  const finished = await mendEach(rows, signal, (row) => moveBlock(core, kind, row));
  return finished && rows.length === ROWS_PER_STATEMENT;
}

async function moveBlock(
  core: Services,
  kind: BlockKind,
  { account_id, seq, block_id, level }: ColdRow,
): Promise<void> {
  const key = [account_id, kind.name, seq, block_id, level] as const;
  const { rows } = await core.db.query<{ body: Buffer }>(selectBody, key);
  if (rows[0] === undefined) return;
  // Never the name of another attempt: what has a name in a row is never written again.
  const assetKey = `${BLOCK_ASSETS}${account_id}/${newId('blk_')}`;
  await core.assets.putNew(assetKey, rows[0].body);
  const { count } = await core.db.query(moveBody, [...key, assetKey]);
  if (count === 0) await removeAssets(core, [assetKey]);
}

const selectNamed = statement(
  'block_select_named',
  'SELECT 1 AS named FROM core.block b WHERE b.account_id = $1 AND b.asset_key = $2 LIMIT 1',
);
/** Longer than a move takes between bytes and row. */
const ORPHAN_MS = DAY_MS;

/** What crashes and deleted accounts left in the asset store. */
export function removeOrphans(
  { assets, db }: Services,
  from: { after: string },
  signal: AbortSignal,
): Promise<boolean> {
  const isNamed = async (key: string) => {
    const accountId = key.slice(BLOCK_ASSETS.length).split('/')[0] as string;
    return (await db.query(selectNamed, [accountId, key])).count > 0;
  };
  return assets.removeOrphans({ prefix: BLOCK_ASSETS, beforeMs: Date.now() - ORPHAN_MS, from, isNamed }, signal);
}
