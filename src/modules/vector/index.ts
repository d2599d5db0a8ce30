// The vector module: collections of embeddings, with similarity search and metadata filters.

import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { collectionCreate } from './capabilities/collection/create.ts';
import { collectionDelete } from './capabilities/collection/delete.ts';
import { collectionGet } from './capabilities/collection/get.ts';
import { collectionList } from './capabilities/collection/list.ts';
import { remove } from './capabilities/delete.ts';
import { deleteByFilter } from './capabilities/delete-by-filter.ts';
import { fetch } from './capabilities/fetch.ts';
import { list } from './capabilities/list.ts';
import { query } from './capabilities/query.ts';
import { update } from './capabilities/update.ts';
import { upsert } from './capabilities/upsert.ts';
import { collectionTable, vectorLimits } from './collections/store.ts';
import { vectorProblems } from './problems.ts';
import { type VectorSettings, vectorSettings } from './settings.ts';
import { createVectorState, type VectorState } from './state.ts';
import { vectorSweeps } from './sweeps.ts';
export const vector = defineModule<VectorState, VectorSettings>({
  name: 'vector',
  summary: 'Vector search: collections of embeddings, similarity queries and filters on metadata.',
  status: 'ga',
  shownBy: ['vector.query', 'vector.update'],
  capabilities: [
    collectionCreate,
    collectionGet,
    collectionList,
    collectionDelete,
    upsert,
    query,
    fetch,
    list,
    update,
    remove,
    deleteByFilter,
  ],
  finders: [
    finder('collection', collectionList, ({ collection: name }) => ({
      id: name,
      name,
      path: `/vectors/${encodeURIComponent(name)}`,
    })),
  ],
  console: async () => (await import('./console/index.ts')).vectorConsole,
  prices: {
    'vector.upsert': { unit: 'vector', nanosPerUnit: 1_000n, minimumNanos: 10_000n },
    'vector.query': { unit: 'query', nanosPerUnit: 10_000n },
  },
  problems: vectorProblems,
  limits: vectorLimits,
  settings: vectorSettings,
  start: createVectorState,
  close: ({ engine }) => engine.close(),
  metrics: ({ engine }) =>
    Object.entries(engine.gauges()).map(([name, value]) => ({
      name: `qm_vector_${name}`,
      help: 'See the module vector.',
      labels: { engine: engine.name },
      value,
    })),
  isEmpty: collectionTable.isEmpty,
  sweeps: vectorSweeps,
});
