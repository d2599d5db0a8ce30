import { getOf } from '../../../../kit/resource.ts';
import { collections } from '../../collections/resource.ts';

export const collectionGet = getOf(collections, {
  path: '/v1/vector/collection/get',
  description: 'The settings of one collection and how many vectors it holds.',
  keywords: ['describe index', 'collection size', 'vector count', 'dimension of a collection'],
  examples: [
    {
      title: 'One collection',
      before: [{ capability: 'vector.collection.create', input: { collection: 'docs', dimension: 3 } }],
      input: { collection: 'docs' },
      expect: { collection: 'docs', vector_count: 0 },
    },
  ],
});
