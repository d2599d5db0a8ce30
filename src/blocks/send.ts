// Inserts blocks into their table, in the commit of the call that brings them or of a replacement.
import { int4Array, textArray } from '../db/arrays.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { sequenceAt } from '../lib/sequence.ts';
import { type BlockDraft, type BlockKind, bodyOf, COLUMNS_MAX, SUMMARY_BYTES_MAX } from './block.ts';
import { unfoldedBytes } from './columns.ts';

export interface SentBlock {
  readonly accountId: string;
  /** Unique in the account: one of its sequence numbers, taken in the commit. */
  readonly blockId: bigint;
  readonly draft: BlockDraft;
}

// One statement a block: the driver sends a long body from where it is.
const insertBlock = statement(
  'block_insert',
  `INSERT INTO core.block (account_id, kind, seq, block_id, from_ms, to_ms, records, bytes, level, summary, marks, names, starts, body)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);

/** Sends blocks without awaiting them; a failure fails the transaction. */
export function sendBlocks(
  tx: Queryable,
  kind: Pick<BlockKind, 'name' | 'spanMs'>,
  blocks: readonly SentBlock[],
  level = 0,
): void {
  for (const { accountId, blockId, draft } of blocks) {
    requireSound(kind, draft);
    const { body, names, starts } = bodyOf(draft.columns);
    const { fromMs, toMs, records, summary, marks } = draft;
    void tx.query(insertBlock, [
      ...[accountId, kind.name, sequenceAt(fromMs), blockId, fromMs, toMs, records, unfoldedDraftBytes(draft), level],
      ...[asBuffer(summary), asBuffer(marks), textArray(names), int4Array(starts), body],
    ]);
  }
}

function unfoldedDraftBytes({ columns }: BlockDraft): number {
  return columns.values().reduce((sum, packed) => sum + unfoldedBytes(packed), 0);
}

/** A kind that breaks these loses records in silence later. */
function requireSound({ name, spanMs }: Pick<BlockKind, 'name' | 'spanMs'>, draft: BlockDraft): void {
  const { fromMs, toMs, records, columns, summary } = draft;
  const isWithin = fromMs <= toMs && Math.floor(fromMs / spanMs) === Math.floor(toMs / spanMs);
  if (!isWithin || records < 1)
    throw new Error(`a block of ${name} holds ${records} records from ${fromMs} to ${toMs}`);
  if (columns.size > COLUMNS_MAX || summary.length > SUMMARY_BYTES_MAX) {
    throw new Error(`a block of ${name} has ${columns.size} columns and ${summary.length} bytes of summary`);
  }
}

/** What came from a thread is a bare Uint8Array. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
