// Reads of stored vectors for answers of any size. jsonb writes 1e308 in full, so 16 KiB of metadata may be 850 KB of text. Rows are read part
// by part, no further than the answer may go, and numbers are answered in their shortest form.
import { setImmediate as turn } from 'node:timers/promises';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { CallContext } from '../../../kit/services.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { CollectionRow } from '../collections/store.ts';
import type { CollectionRef } from '../engine/port.ts';
import { ANSWER_BYTES_MAX } from '../limits.ts';
import { withShortNumbers } from './metadata.ts';
import { findItems, type ItemRow } from './store.ts';

const IDS_PER_PART = 100;
/** Numbers take long to write: between so many other calls have their turn. */
const NUMBERS_PER_TURN = 1024;
const LONG_CHARACTERS = 64 * 1024;

const selectVersions = statement(
  'vector_select_item_versions',
  `SELECT i.id, i.version FROM vector.item i WHERE i.account_id = $1 AND i.collection_id = $2 AND i.id = ANY($3::text[])`,
);

interface Wanted {
  readonly withMetadata: boolean;
  readonly withValues: boolean;
}

/** Counts the bytes of an answer before it is put together. */
export class AnswerBytes {
  readonly #ctx: Pick<CallContext, 'holdAnswer'>;
  readonly #refusal: () => Problem;
  #left: number;

  /** @param refusal of an answer that is too large */
  constructor(ctx: Pick<CallContext, 'holdAnswer'>, refusal: () => Problem, most = ANSWER_BYTES_MAX) {
    this.#ctx = ctx;
    this.#refusal = refusal;
    this.#left = most;
  }

  /** Throws the refusal, and CONCURRENCY_LIMITED or OVERLOADED when too many answers are being made. */
  add(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#left -= bytes;
    if (this.#left < 0) throw this.#refusal();
    this.#ctx.holdAnswer(bytes);
  }
}

/** By id; those that are not there are left out. Throws the refusal of `bytes` once it is sure. */
export async function readItems(
  db: Queryable,
  collection: Pick<CollectionRow, 'account_id' | 'collection_id'>,
  ids: readonly string[],
  { withMetadata, withValues }: Wanted,
  bytes: AnswerBytes,
): Promise<Map<string, ItemRow>> {
  const found = new Map<string, ItemRow>();
  for (let from = 0; from < ids.length; from += IDS_PER_PART) {
    for (const row of await findItems(db, collection, ids.slice(from, from + IDS_PER_PART), withValues)) {
      if (withMetadata) bytes.add(row.metadata ?? '');
      found.set(row.id, { ...row, metadata: withMetadata ? await shortMetadata(row.metadata) : null });
    }
  }
  return found;
}

/** Rewriting a long text takes milliseconds: other calls go between. */
export async function shortMetadata(stored: string | null): Promise<string | null> {
  if (stored === null) return null;
  const text = withShortNumbers(stored);
  if (stored.length > LONG_CHARACTERS && text !== stored) await turn();
  return text;
}

/** By id; those that are not there are left out. */
export async function readVersions(
  db: Queryable,
  { accountId, collectionId }: CollectionRef,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; version: bigint }>(selectVersions, [
    accountId,
    collectionId,
    textArray(ids),
  ]);
  return new Map(rows.map(({ id, version }) => [id, Number(version)]));
}

/** Counts the numbers written and lets others go first now and then. */
export class NumberWriter {
  #written = 0;

  /** JSON array of the numbers of a stored embedding. */
  async write(embedding: Buffer): Promise<string> {
    const count = embedding.length / Float32Array.BYTES_PER_ELEMENT;
    this.#written += count;
    if (this.#written > NUMBERS_PER_TURN) {
      this.#written = 0;
      await turn();
    }
    // A copy: the buffer need not begin at a multiple of four.
    return `[${new Float32Array(new Uint8Array(embedding).buffer, 0, count).join(',')}]`;
  }

  /** Puts the pieces of an answer together, in a turn of its own: megabytes take as long as thousands of numbers. */
  async join(texts: readonly string[]): Promise<string> {
    if (this.#written === 0) return texts.join(',');
    await turn();
    const text = texts.join(',');
    await turn();
    return text;
  }
}
