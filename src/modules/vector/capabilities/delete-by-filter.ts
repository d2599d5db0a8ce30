import Type from 'typebox';
import type { CallContext } from '../../../core/context.ts';
import { runOutside } from '../../../core/idempotency/outside.ts';
import { readClock } from '../../../core/wallet/statements.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { invalidField } from '../../../problems/problem.ts';
import { countOut, holdCollection } from '../collection-store.ts';
import type { Filter } from '../engine/port.ts';
import { parseFilter } from '../filter.ts';
import { findPassingIds, removeItems } from '../item-store.ts';
import { collectionField, filterField } from '../schemas.ts';
import { collectionNotFound } from '../search.ts';
import type { VectorState } from '../state.ts';

// A transaction holds the collection for some 50 ms.
const ROWS_PER_TRANSACTION = 1_000;

export const deleteByFilter = defineCapability<VectorState>()({
  id: 'vector.delete_by_filter',
  method: 'POST',
  path: '/v1/vector/delete_by_filter',
  summary: 'Deletes the vectors whose metadata passes a filter.',
  description:
    'Deletes every vector that passes, part by part, and counts them exactly. Should the call fail half-way, repeat it: it deletes the rest. ' +
    'The filter must have a key; to delete all vectors, delete the collection.',
  input: Type.Object({ collection: collectionField, filter: filterField }),
  output: Type.Object({
    collection: Type.String({ description: 'The name sent.' }),
    deleted: Type.Integer({ description: 'Vectors deleted.' }),
    ok: Type.Boolean({ description: 'true.' }),
  }),
  price: 'free',
  scope: 'write',
  idempotent: true,
  errors: ['COLLECTION_NOT_FOUND', 'UNSUPPORTED_FILTER'],
  events: [],
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
  async run({ ctx, input: { collection, filter: sent } }) {
    const filter = parseFilter(sent, 'filter');
    if (filter === null) throw invalidField('filter', 'minProperties', 'filter must have a key.');
    return runOutside(ctx, async () => ({ collection, deleted: await removeAll(ctx, collection, filter), ok: true }));
  },
});

async function removeAll(ctx: CallContext, name: string, filter: Filter): Promise<number> {
  let deleted = 0;
  let collectionId: string | null = null;
  for (let after: string | null = ''; after !== null; ) {
    const slice: Slice | null = await removeSlice(ctx, name, filter, after, collectionId);
    if (slice === null && collectionId === null) throw collectionNotFound();
    // Deleted meanwhile, and perhaps made anew: nothing of it is left to delete.
    if (slice === null) return deleted;
    deleted += slice.deleted;
    ({ after, collectionId } = slice);
  }
  return deleted;
}

interface Slice {
  readonly collectionId: string;
  readonly deleted: number;
  /** Where the next one begins; null at the end. */
  readonly after: string | null;
}

/** Finds and deletes under the lock of the collection: exactly what passes. Null without that collection. */
function removeSlice(
  { core: { db }, accountId }: CallContext,
  name: string,
  filter: Filter,
  after: string,
  collectionId: string | null,
): Promise<Slice | null> {
  return db.transaction(async (tx) => {
    const row = await holdCollection(tx, accountId, name);
    if (row === null || (collectionId !== null && row.collection_id !== collectionId)) return null;
    const nowMs = (await tx.query<{ now: number }>(readClock, [])).rows[0]?.now as number;
    const ids = await findPassingIds(tx, row, filter, { after, limit: ROWS_PER_TRANSACTION });
    const last = ids.at(-1);
    if (last === undefined) return { collectionId: row.collection_id, deleted: 0, after: null };
    const version = row.version + 1n;
    const deleted = await removeItems(tx, row, ids, version, nowMs);
    await countOut(tx, row, version, deleted, nowMs);
    return { collectionId: row.collection_id, deleted, after: ids.length < ROWS_PER_TRANSACTION ? null : last };
  });
}
