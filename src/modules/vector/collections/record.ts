// Collections as callers see them.
import { iso } from '../../../lib/time.ts';
import type { VectorEngine } from '../engine/port.ts';
import { type CollectionRow, refOf } from './store.ts';

/** JSON text of a collection: its metadata goes out as it came in. */
export function collectionText(row: CollectionRow, engine: VectorEngine): string {
  const { state, bytes } = engine.indexState(refOf(row));
  const head = JSON.stringify({ collection: row.name, dimension: row.dimension, metric: row.metric });
  const tail = JSON.stringify({
    vector_count: Number(row.vector_count),
    state: 'ready',
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    raw_vendor_payload: { engine: engine.name, bytes, index_state: state },
  });
  return `${head.slice(0, -1)},"metadata":${row.metadata ?? 'null'},${tail.slice(1)}`;
}
