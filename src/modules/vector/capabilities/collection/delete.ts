import Type from 'typebox';
import { runLongWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { removeCollection } from '../../collections/store.ts';
import { collectionField, enginePayload } from '../../schemas.ts';
import type { VectorState } from '../../state.ts';

export const collectionDelete = defineCapability<VectorState>()({
  method: 'DELETE',
  path: '/v1/vector/collection/delete',
  summary: 'Deletes a collection and its vectors.',
  description:
    'Collection and vectors are gone at once, and the name is free. A missing collection is no error: deleted is 0.',
  keywords: ['delete vector index', 'drop collection'],
  input: Type.Object({ collection: collectionField }),
  output: Type.Object({
    collection: Type.String({ description: 'The name sent.' }),
    deleted: Type.Integer({ description: 'Vectors freed.' }),
    raw_vendor_payload: enginePayload,
  }),
  examples: [
    {
      title: 'With its vectors',
      before: [
        { capability: 'vector.collection.create', input: { collection: 'docs', dimension: 2 } },
        { capability: 'vector.upsert', input: { collection: 'docs', vectors: [{ id: 'a', embedding: [1, 0] }] } },
      ],
      input: { collection: 'docs' },
      expect: { deleted: 1 },
    },
    { title: 'Nothing there', input: { collection: 'never-made' }, expect: { deleted: 0 } },
  ],
  async run({ ctx, input, state }) {
    const { accountId } = ctx;
    let goneId: string | null = null;
    const answer = await runLongWrite(ctx, async (tx) => {
      const gone = await removeCollection(tx, accountId, input.collection);
      goneId = gone?.collectionId ?? null;
      return {
        collection: input.collection,
        deleted: Number(gone?.vectors ?? 0n),
        raw_vendor_payload: { engine: state.engine.name },
      };
    });
    if (goneId !== null) state.engine.forget(accountId, goneId);
    return answer;
  },
});
