// Tenant-isolation fixture of collections and vectors, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  first: 'vector.upsert',
  nobody: { collection: 'zz-docs', vector: 'zz-1' },
  async fill({ act }) {
    for (const collection of ['aa-docs', 'aa-more']) {
      await act('vector.collection.create', { collection, dimension: 2 });
    }
    const vectors = ['aa-1', 'aa-2'].map((id) => ({ id, embedding: [1, 0], metadata: { kind: 'of-a' } }));
    await act('vector.upsert', { collection: 'aa-docs', vectors, idempotency_key: 'shared' });
    return { collection: 'aa-docs', vector: 'aa-1' };
  },
  async fillOther({ act }) {
    await act('vector.collection.create', { collection: 'of-b', dimension: 2 });
    return { collection: 'of-b' };
  },
  aims: {
    'vector.collection.create': [],
    'vector.upsert': [
      (names) => ({ collection: names.collection, vectors: [{ id: names.vector, embedding: [1, 0] }] }),
    ],
    'vector.query': [
      (names) => ({ collection: names.collection, embedding: [1, 0] }),
      (names) => ({ collection: names.collection, queries: [{ embedding: [1, 0] }] }),
    ],
    'vector.fetch': [
      (names) => ({ collection: names.collection, ids: [names.vector] }),
      (names) => ({ collection: 'of-b', ids: [names.vector], include_values: true }),
    ],
    'vector.list': [
      (names) => ({ collection: names.collection }),
      (names) => ({ collection: 'of-b', prefix: names.vector }),
    ],
    'vector.update': [
      (names) => ({ collection: names.collection, id: names.vector, metadata: { taken: true } }),
      (names) => ({ collection: 'of-b', id: names.vector, metadata: null }),
    ],
    'vector.delete': [
      (names) => ({ collection: names.collection, ids: [names.vector] }),
      (names) => ({ collection: 'of-b', ids: [names.vector] }),
    ],
    'vector.delete_by_filter': [(names) => ({ collection: names.collection, filter: { kind: 'of-a' } })],
  },
};
