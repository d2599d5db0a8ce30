// Merging of blocks: small commits write small blocks, and the sweep merges those of one span into large ones. Only blocks adjacent in ID order
// are merged, since a kind may let the later of two records win.

import { mendEach } from '../core/background/sweeper/sweep.ts';
import { clockNow } from '../core/database-clock.ts';
import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { sequenceAt } from '../lib/sequence.ts';
import type { BlockDraft, BlockKind, BlockRef } from './block.ts';
import { keysOf, refOf } from './list.ts';
import { replaceBlocks } from './replace.ts';

/** What the kind makes of blocks with all their columns, in a thread. */
export type Merging = (accountId: string, refs: readonly BlockRef[], signal: AbortSignal) => Promise<BlockDraft[]>;

/** So many small blocks of a span are merged though more may come. */
const SMALL_MAX = 64;
/** A span that is over is merged when nothing has come into it for so long. */
const QUIET_MS = 60_000;
const GROUPS_PER_RUN = 200;
/** What one merge takes at once; the rest comes in the next. Bytes are without compression, which a sender may drive to a thousandth. */
const BLOCKS_PER_MERGE = 512;
const BYTES_PER_MERGE = 16 * 1024 * 1024;
/** A block of so many bytes, or of half the records of a full one, is merged no more. */
const FULL_BYTES = 4 * 1024 * 1024;

const findSmall = statement(
  'block_find_small',
  `/* fan-out: spans of accounts with blocks to merge */
   SELECT b.account_id, b.from_ms / $2 AS span FROM core.block b
    WHERE b.kind = $1 AND b.level = 0 AND b.replaced_ms IS NULL
    GROUP BY b.account_id, b.from_ms / $2
   HAVING count(*) > $3 OR sum(b.records) >= $4 OR (b.from_ms / $2 + 1) * $2 <= $5
    LIMIT ${GROUPS_PER_RUN}`,
);
const listSpan = statement(
  'block_list_span',
  `SELECT b.seq, b.block_id, b.from_ms, b.to_ms, b.records, b.bytes, b.level, NULL::bytea AS summary FROM core.block b
    WHERE b.account_id = $1 AND b.kind = $2 AND b.seq >= $3 AND b.seq < $4 AND b.replaced_ms IS NULL
    ORDER BY b.block_id, b.seq`,
);
const keepAlone = statement(
  'block_keep_alone',
  `UPDATE core.block SET level = 1
    WHERE account_id = $1 AND kind = $2 AND seq = $3 AND block_id = $4 AND level = 0 AND replaced_ms IS NULL`,
);

/** One run of the sweep; true when there is more to do at once. */
export async function mergeSmall(
  makeOf: Merging,
  db: Database,
  kind: BlockKind,
  signal: AbortSignal,
): Promise<boolean> {
  const nowMs = await clockNow(db);
  const { rows } = await db.query<{ account_id: string; span: bigint }>(findSmall, [
    ...[kind.name, kind.spanMs, SMALL_MAX, kind.recordsMax, nowMs - QUIET_MS],
  ]);
  let more = rows.length === GROUPS_PER_RUN;
  const finished = await mendEach(rows, signal, async ({ account_id, span }) => {
    const fromMs = Number(span) * kind.spanMs;
    const isOver = fromMs + kind.spanMs <= nowMs - QUIET_MS;
    more = (await mergeSpan(makeOf, db, kind, { accountId: account_id, fromMs, isOver, nowMs }, signal)) || more;
  });
  return finished && more;
}

interface Span {
  readonly accountId: string;
  readonly fromMs: number;
  readonly isOver: boolean;
  readonly nowMs: number;
}

/** Answers whether it left something that can be merged now. */
async function mergeSpan(
  makeOf: Merging,
  db: Database,
  kind: BlockKind,
  { accountId, fromMs, isOver, nowMs }: Span,
  signal: AbortSignal,
): Promise<boolean> {
  const bounds = [sequenceAt(fromMs), sequenceAt(fromMs + kind.spanMs)];
  const { rows } = await db.query<Parameters<typeof refOf>[0]>(listSpan, [accountId, kind.name, ...bounds]);
  const refs = rows.map(refOf);
  let more = false;
  const merged = new Set<BlockRef>();
  for (const run of runsOf(refs, kind)) {
    const part = bite(run, kind);
    if (part.length < 2) continue;
    more ||= part.length < run.length;
    await mergeRun(makeOf, db, kind, accountId, part, signal);
    for (const ref of part) merged.add(ref);
  }
  // What is large enough, or will get no company, is done. Whoever follows the account has seen it by then.
  const isDone = (ref: BlockRef) => isOver || !isSmall(ref, kind);
  const seen = sequenceAt(nowMs - REPLACED_KEPT_MS);
  for (const ref of refs) {
    if (ref.level > 0 || merged.has(ref) || ref.blockId >= seen || more || !isDone(ref)) continue;
    await db.query(keepAlone, [accountId, kind.name, ref.seq, ref.blockId]);
  }
  return more;
}

function isSmall({ records, bytes }: BlockRef, { recordsMax }: Pick<BlockKind, 'recordsMax'>): boolean {
  return records * 2 <= recordsMax && bytes < FULL_BYTES;
}

/** Small blocks beside each other, in the order of their IDs. */
export function runsOf(refs: readonly BlockRef[], kind: Pick<BlockKind, 'recordsMax'>): BlockRef[][] {
  const runs: BlockRef[][] = [[]];
  for (const ref of refs) {
    if (isSmall(ref, kind)) runs.at(-1)?.push(ref);
    else runs.push([]);
  }
  // What is merged already waits for company: a run without a new block is left as it is.
  return runs.filter((run) => run.some(({ level }) => level === 0));
}

function bite(run: readonly BlockRef[], { recordsMax }: BlockKind): readonly BlockRef[] {
  let [bytes, records] = [0, 0];
  const end = run.slice(0, BLOCKS_PER_MERGE).findIndex((ref, i) => {
    bytes += ref.bytes;
    records += ref.records;
    return (bytes > BYTES_PER_MERGE || records > 2 * recordsMax) && i >= 2;
  });
  return run.slice(0, end === -1 ? BLOCKS_PER_MERGE : end);
}

async function mergeRun(
  makeOf: Merging,
  db: Database,
  kind: BlockKind,
  accountId: string,
  sources: readonly BlockRef[],
  signal: AbortSignal,
): Promise<void> {
  const drafts = await makeOf(accountId, sources, signal);
  await replaceBlocks(db, kind, accountId, sources, drafts);
}

const findReplaced = statement(
  'block_find_replaced',
  `/* fan-out: blocks that others took the place of */
   SELECT b.account_id, b.seq, b.block_id, b.from_ms, b.to_ms, b.records, b.bytes, b.level, NULL::bytea AS summary
     FROM core.block b WHERE b.kind = $1 AND b.replaced_ms < $2 LIMIT $3`,
);
const deleteReplaced = statement(
  'block_delete_replaced',
  `DELETE FROM core.block b USING unnest($3::bigint[], $4::bigint[], $5::smallint[]) u(seq, id, level)
    WHERE b.account_id = $1 AND b.kind = $2 AND b.seq = u.seq AND b.block_id = u.id AND b.level = u.level AND b.replaced_ms IS NOT NULL
   RETURNING b.asset_key`,
);
const REPLACED_PER_RUN = 2_000;
/** Longer than a question takes that listed them. */
export const REPLACED_KEPT_MS = 90_000;

/** Deletes blocks that were replaced long enough ago. `removed` gets the keys of what they had in the asset store. */
export async function deleteOldReplaced(
  db: Database,
  kind: BlockKind,
  signal: AbortSignal,
  removed: (keys: readonly string[]) => Promise<void>,
): Promise<boolean> {
  const beforeMs = (await clockNow(db)) - REPLACED_KEPT_MS;
  const { rows } = await db.query<{ account_id: string } & Parameters<typeof refOf>[0]>(findReplaced, [
    ...[kind.name, beforeMs, REPLACED_PER_RUN],
  ]);
  const accounts = [...Map.groupBy(rows, ({ account_id }) => account_id)];
  const finished = await mendEach(accounts, signal, async ([accountId, of]) => {
    const keys = keysOf(of.map(refOf));
    const gone = await db.query<{ asset_key: string | null }>(deleteReplaced, [accountId, kind.name, ...keys]);
    await removed(gone.rows.flatMap(({ asset_key }) => asset_key ?? []));
  });
  return finished && rows.length === REPLACED_PER_RUN;
}
