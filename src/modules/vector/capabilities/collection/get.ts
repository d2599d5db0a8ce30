import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { JsonText } from '../../../../lib/json-text.ts';
import { collectionText, findCollection } from '../../collections/store.ts';
import { collectionNotFound } from '../../querying/search.ts';
import { collectionField, collectionSchema } from '../../schemas.ts';
import type { VectorState } from '../../state.ts';

export const collectionGet = defineCapability<VectorState>()({
  method: 'GET',
  path: '/v1/vector/collection/get',
  summary: 'Shows a collection.',
  description: 'The settings of one collection and how many vectors it holds.',
  keywords: ['describe index', 'collection size', 'vector count', 'dimension of a collection'],
  input: Type.Object({ collection: collectionField }),
  output: collectionSchema,
  errors: ['COLLECTION_NOT_FOUND'],
  examples: [
    {
      title: 'One collection',
      before: [{ capability: 'vector.collection.create', input: { collection: 'docs', dimension: 3 } }],
      input: { collection: 'docs' },
      expect: { collection: 'docs', vector_count: 0 },
    },
  ],
  async run({ ctx, input, state }) {
    const row = await findCollection(ctx.core.db, ctx.accountId, input.collection);
    if (row === null) throw collectionNotFound();
    return { data: new JsonText(collectionText(row, state.engine)) };
  },
});
