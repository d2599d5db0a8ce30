// Lists an account's blocks in a time range. A list is one statement and so reads one snapshot: each record is in exactly one listed block.
import { int2Array, int8Array } from '../db/arrays.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { sequenceAt } from '../lib/sequence.ts';
import { DAY_MS, startOfDay } from '../lib/time.ts';
import type { BlockKind, BlockRef } from './block.ts';
import { BUCKET_BYTES, markPlace, mayHold } from './marks.ts';

export interface BlockQuestion {
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
  /** Only blocks that may hold all of them. */
  readonly marks?: readonly string[];
  readonly withSummary?: boolean;
  /** Only blocks with this ID or later ones. */
  readonly sinceBlockId?: bigint;
}

interface BlockRow {
  readonly seq: bigint;
  readonly block_id: bigint;
  readonly from_ms: bigint;
  readonly to_ms: bigint;
  readonly records: number;
  readonly bytes: number;
  readonly level: number;
  readonly summary: Buffer | null;
  /** The bucket of each mark, one behind the other; null: the block has no filter. */
  readonly buckets: Buffer | null;
}

const COLUMNS = 'b.seq, b.block_id, b.from_ms, b.to_ms, b.records, b.bytes, b.level';
// Of a filter only the buckets are read: it is not compressed, so the others stay where they are.
const listBlocks = statement(
  'block_list',
  `SELECT ${COLUMNS}, CASE WHEN $7 THEN b.summary END AS summary,
          CASE WHEN octet_length(b.marks) > 0 THEN (
            SELECT string_agg(substr(b.marks, (m.bucket % (octet_length(b.marks) / ${BUCKET_BYTES}))::integer * ${BUCKET_BYTES} + 1, ${BUCKET_BYTES}),
                              ''::bytea ORDER BY m.place)
              FROM unnest($8::bigint[]) WITH ORDINALITY m(bucket, place)) END AS buckets
     FROM core.block b
    WHERE b.account_id = $1 AND b.kind = $2 AND b.seq >= $3 AND b.seq < $4 AND b.from_ms < $5 AND b.to_ms >= $6
      AND b.block_id >= $9 AND b.replaced_ms IS NULL
    ORDER BY b.seq, b.block_id`,
);

export async function blocksIn(
  db: Queryable,
  kind: BlockKind,
  accountId: string,
  question: BlockQuestion,
): Promise<BlockRef[]> {
  const { fromMs, toMs, withSummary = false, sinceBlockId = 0n } = question;
  if (toMs <= fromMs) return [];
  const places = (question.marks ?? []).map(markPlace);
  // The first block that reaches into the time begins in its span.
  const first = sequenceAt(Math.floor(fromMs / kind.spanMs) * kind.spanMs);
  const { rows } = await db.query<BlockRow>(listBlocks, [
    ...[accountId, kind.name, first, sequenceAt(Math.ceil(toMs)), Math.ceil(toMs), Math.floor(fromMs), withSummary],
    ...[int8Array(places.map(({ bucket }) => BigInt(bucket))), sinceBlockId],
  ]);
  const holds = ({ buckets }: BlockRow) =>
    buckets === null ||
    places.every((place, i) => mayHold(buckets.subarray(i * BUCKET_BYTES, (i + 1) * BUCKET_BYTES), place));
  return rows.filter(holds).map(refOf);
}

const listCommitted = statement(
  'block_list_committed',
  `SELECT ${COLUMNS}, NULL::bytea AS summary FROM core.block b
    WHERE b.account_id = $1 AND b.kind = $2 AND b.level = 0 AND b.block_id > $3 ORDER BY b.block_id`,
);

/** Blocks as they were committed, merged since or not, with IDs behind this one. */
export async function committedBlocks(
  db: Queryable,
  kind: BlockKind,
  accountId: string,
  afterId: bigint,
): Promise<BlockRef[]> {
  return (await db.query<BlockRow>(listCommitted, [accountId, kind.name, afterId])).rows.map(refOf);
}

export function refOf(row: Omit<BlockRow, 'buckets'>): BlockRef {
  const { seq, block_id: blockId, records, bytes, level, summary } = row;
  return { seq, blockId, fromMs: Number(row.from_ms), toMs: Number(row.to_ms), records, bytes, level, summary };
}

/** The keys of blocks, as three arrays: statements find them by `(seq, block_id, level)`. */
export function keysOf(refs: readonly BlockRef[]): readonly [Buffer, Buffer, Buffer] {
  return [
    int8Array(refs.map(({ seq }) => seq)),
    int8Array(refs.map(({ blockId }) => blockId)),
    int2Array(refs.map(({ level }) => level)),
  ];
}

const selectKeeping = statement(
  'block_select_keeping',
  `SELECT core.clock_now() AS now, k.keep_days
     FROM core.wallet w LEFT JOIN core.block_keeping k ON k.account_id = $1 AND k.kind = $2
    WHERE w.account_id = $1`,
);

export interface Keeping {
  readonly keepDays: number;
  /** Epoch milliseconds: the start of the first day that is kept. */
  readonly firstKeptMs: number;
}

export async function keepingOf(db: Queryable, kind: BlockKind, accountId: string): Promise<Keeping> {
  const { rows } = await db.query<{ now: number; keep_days: number | null }>(selectKeeping, [accountId, kind.name]);
  const [row] = rows;
  if (row === undefined) throw new Error(`${accountId} has no wallet`);
  const { now, keep_days } = row;
  const keepDays = keep_days ?? kind.keepDays.standard;
  return { keepDays, firstKeptMs: startOfDay(now) - keepDays * DAY_MS };
}

const upsertKeeping = statement(
  'block_upsert_keeping',
  `INSERT INTO core.block_keeping AS k (account_id, kind, keep_days, swept_day) VALUES ($1, $2, $3, 0)
   ON CONFLICT (account_id, kind) DO UPDATE SET keep_days = excluded.keep_days, swept_day = 0`,
);

export async function saveKeeping(tx: Queryable, kind: BlockKind, accountId: string, keepDays: number): Promise<void> {
  await tx.query(upsertKeeping, [accountId, kind.name, keepDays]);
}
