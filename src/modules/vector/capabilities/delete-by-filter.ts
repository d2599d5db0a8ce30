import Type from 'typebox';
import { confirmCaller } from '../../../core/callers/enter.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { runOutside } from '../../../core/idempotency/outside.ts';
import type { Transaction } from '../../../db/database.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { requireRow } from '../../../kit/resource.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField } from '../../../problems/problem.ts';
import { collections } from '../collections/resource.ts';
import { type CollectionRow, countOut, holdCollection } from '../collections/store.ts';
import type { Filter } from '../engine/port.ts';
import { parseFilter } from '../items/filter.ts';
import { findPassingItems, type Passing, removePassingItems } from '../items/store.ts';
import { IDS_BODY_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { collectionField, filterField } from '../schemas.ts';
import type { VectorState } from '../state.ts';

// A transaction holds the collection for some 50 ms.
const ROWS_MAX = 1_000;
// Rows may take 3 µs each or, with an array of thousands of elements, 5 ms: a first part tells.
const ROWS_FIRST = 50;
const SEARCH_MS = 25;
/** A part of fewer rows has rows that take long to examine, and is worth one too. */
const ROWS_PER_TOKEN = 10_000;

export const deleteByFilter = defineCapability<VectorState>()({
  method: 'POST',
  path: '/v1/vector/delete_by_filter',
  summary: 'Deletes the vectors whose metadata passes a filter.',
  description:
    'Deletes every vector that passes, part by part, and counts them exactly. Should the call fail half-way, repeat it: it deletes the rest. ' +
    'The filter must have a key; to delete all vectors, delete the collection.',
  keywords: ['bulk delete vectors', 'delete by metadata', 'remove all vectors of a document'],
  input: Type.Object({ collection: collectionField, filter: filterField }),
  output: Type.Object({
    collection: Type.String({ description: 'The name sent.' }),
    deleted: Type.Integer({ description: 'Vectors deleted.' }),
    ok: Type.Boolean({ description: 'true.' }),
  }),
  destructive: true,
  bodyBytesMax: IDS_BODY_BYTES_MAX,
  errors: ['COLLECTION_NOT_FOUND', 'UNSUPPORTED_FILTER'],
  limits: { rate: `Takes one more of the rate of management writes for each ${ROWS_PER_TOKEN} vectors it looks at.` },
  examples: [
    {
      title: 'Everything older than 2025',
      before: [
        { capability: 'vector.collection.create', input: { collection: 'docs', dimension: 2 } },
        {
          capability: 'vector.upsert',
          input: {
            collection: 'docs',
            vectors: [
              { id: 'a', embedding: [1, 0], metadata: { year: 2024 } },
              { id: 'b', embedding: [0, 1], metadata: { year: 2026 } },
            ],
          },
        },
      ],
      input: { collection: 'docs', filter: { year: { $lt: 2025 } } },
      expect: { deleted: 1, ok: true },
    },
  ],
  async run({ ctx, input: { collection, filter: sent }, state }) {
    const filter = parseFilter(sent, 'filter');
    if (filter === null) throw invalidField('filter', 'minProperties', 'filter must have a key.');
    return runOutside(ctx, async () => ({
      collection,
      deleted: await removeAll(ctx, state, collection, filter),
      ok: true,
    }));
  },
});

async function removeAll(ctx: CallContext, state: VectorState, name: string, filter: Filter): Promise<number> {
  const collection = await requireRow(collections, ctx.core.db, ctx, name);
  let deleted = 0;
  let window: Window | null = { after: '', rows: ROWS_FIRST };
  while (window !== null) {
    const { after, rows }: Window = window;
    // A turn for each part: a call of few parts does not wait for all the parts of another.
    const part: Part = await state.filterPlaces.run(ctx.accountId, null, () =>
      removePart(ctx, collection, filter, { after, rows }),
    );
    deleted += part.deleted;
    ctx.weigh(rows < ROWS_MAX ? 1 : rows / ROWS_PER_TOKEN);
    window = part.next;
  }
  return deleted;
}

/** Vectors to examine next, by id. */
interface Window {
  readonly after: string;
  readonly rows: number;
}

interface Part {
  readonly deleted: number;
  /** Null at the end. */
  readonly next: Window | null;
}

/** Finds without a lock, which may take long, and deletes what still passes under the lock of the collection. */
async function removePart(ctx: CallContext, collection: CollectionRow, filter: Filter, window: Window): Promise<Part> {
  const { db } = ctx.core;
  // The client disconnected, or the service stops.
  if (ctx.signal.aborted) throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000 });
  const startedMs = performance.now();
  const found = await findPassingItems(db, collection, filter, window);
  const rows = rowsFor(window.rows, performance.now() - startedMs);
  const deleted =
    found.ids.length === 0 ? 0 : await db.transaction((tx) => removeFound(tx, ctx, collection, filter, found));
  // Deleted meanwhile, and perhaps made anew: nothing of it is left to delete.
  if (deleted === null) return { deleted: 0, next: null };
  return { deleted, next: found.last === null ? null : { after: found.last, rows } };
}

/** As many rows as can be examined in some 25 ms. */
function rowsFor(rows: number, tookMs: number): number {
  return Math.min(ROWS_MAX, Math.max(1, Math.floor(rows * Math.min(4, SEARCH_MS / tookMs))));
}

/** Null when the collection is gone. */
async function removeFound(
  tx: Transaction,
  ctx: CallContext,
  { account_id, name, collection_id }: CollectionRow,
  filter: Filter,
  found: Passing,
): Promise<number | null> {
  const row = await holdCollection(tx, account_id, name);
  if (row === null || row.collection_id !== collection_id) return null;
  const nowMs = await clockNow(tx);
  const version = row.version + 1n;
  const deleted = await removePassingItems(tx, row, { filter, found }, version, nowMs);
  if (deleted > 0) await countOut(tx, row, version, deleted, nowMs);
  await confirmCaller(tx, ctx);
  return deleted;
}
