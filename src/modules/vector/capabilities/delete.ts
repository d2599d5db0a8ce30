import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { runLongWrite } from '../../../core/idempotency/write.ts';
import type { Transaction } from '../../../db/database.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { countOut, holdCollection } from '../collections/store.ts';
import { removeItems } from '../items/store.ts';
import { IDS_BODY_BYTES_MAX, IDS_MAX } from '../limits.ts';
import { collectionField, idsField, okField, singleId } from '../schemas.ts';
import type { VectorState } from '../state.ts';

export const remove = defineCapability<VectorState>()({
  method: 'DELETE',
  path: '/v1/vector/delete',
  summary: 'Deletes vectors by id.',
  description:
    'Ids that are not there, and a missing collection, are no error: deleted counts those that were. Send ids repeated (ids=a&ids=b), as one ' +
    'list with commas (ids=a,b), or as an array in the body, which is the only way for ids that hold commas.',
  keywords: ['delete vectors by id', 'remove embeddings', 'remove vectors'],
  input: Type.Object({
    collection: collectionField,
    ids: idsField(`1 to ${IDS_MAX} ids.`),
  }),
  output: Type.Object({
    collection: Type.String({ description: 'The name sent.' }),
    deleted: Type.Integer({ description: 'Vectors that were there and are gone.' }),
    ok: okField,
    id: singleId,
  }),
  bodyBytesMax: IDS_BODY_BYTES_MAX,
  limits: { ids: `${IDS_MAX} a call.` },
  examples: [
    {
      title: 'One of two',
      before: [
        { capability: 'vector.collection.create', input: { collection: 'docs', dimension: 2 } },
        { capability: 'vector.upsert', input: { collection: 'docs', vectors: [{ id: 'a', embedding: [1, 0] }] } },
      ],
      input: { collection: 'docs', ids: ['a', 'b'] },
      expect: { collection: 'docs', deleted: 1, ok: true, id: null },
    },
  ],
  async run({ ctx, input: { collection, ids } }) {
    const { accountId } = ctx;
    const distinct = [...new Set(ids)];
    return runLongWrite(ctx, async (tx) => {
      const deleted = await removeFrom(tx, accountId, collection, distinct);
      return { collection, deleted, ok: true, id: ids.length === 1 ? ids[0] : null };
    });
  },
});

async function removeFrom(tx: Transaction, accountId: string, name: string, ids: readonly string[]): Promise<number> {
  const row = await holdCollection(tx, accountId, name);
  if (row === null) return 0;
  const nowMs = await clockNow(tx);
  const version = row.version + 1n;
  const removed = await removeItems(tx, row, ids, version, nowMs);
  if (removed > 0) await countOut(tx, row, version, removed, nowMs);
  return removed;
}
