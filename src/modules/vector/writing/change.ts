// Vector writes as lane input: an upsert of many vectors, or new metadata for an existing one; and their summary for the engine.
import type { AdmittedItem, LaneItem } from '../../../core/wallet/lane/lane-item.ts';
import { type CollectionRow, refOf } from '../collections/store.ts';
import type { Change, CollectionRef } from '../engine/port.ts';
import { embeddingAt, metadataAt, type PackedVectors } from './packed.ts';

export type ChangeInput =
  | { readonly kind: 'upsert'; readonly collection: string; readonly vectors: PackedVectors }
  | { readonly kind: 'update'; readonly collection: string; readonly id: string; readonly metadata: Buffer | null };

export type ChangeItem = LaneItem<ChangeInput, CollectionRow>;

/** One row as it will be. */
export interface RowChange {
  readonly collection: CollectionRow;
  readonly id: string;
  /** Null: the embedding stays as it is, and the row is there. */
  readonly embedding: Buffer | null;
  /** JSON text as UTF-8. */
  readonly metadata: Buffer | null;
}

// What a commit's upserts made of each collection, for an engine that holds it in memory.

type Admitted = AdmittedItem<ChangeInput, CollectionRow>;

/**
 * One change for each collection that `isHeld` says yes to. Left out are collections whose commit changed metadata alone, and calls
 * written by themselves: the row that these read may not be the one that they changed.
 */
export function changesOf(items: readonly Admitted[], isHeld: (ref: CollectionRef) => boolean): Change[] {
  const written = Map.groupBy(
    items.filter(({ item }) => item.mode === 'charge'),
    ({ context }) => context.collection_id,
  );
  return [...written.values()].flatMap((of) => {
    const { context } = of[0] as Admitted;
    const ref = refOf(context);
    if (!isHeld(ref)) return [];
    const upserts = of.flatMap(({ item: { input } }) => (input.kind === 'upsert' ? [input.vectors] : []));
    return upserts.length === of.length ? [changeOf({ ...ref, version: ref.version + 1 }, upserts)] : [];
  });
}

/** The later vector of an id wins. */
function changeOf(ref: CollectionRef, upserts: readonly PackedVectors[]): Change {
  const last = new Map<string, readonly [PackedVectors, number]>();
  for (const vectors of upserts) for (const [i, id] of vectors.ids.entries()) last.set(id, [vectors, i]);
  const rows = [...last.values()];
  const size = ref.dimension * Float32Array.BYTES_PER_ELEMENT;
  const floats = new Uint8Array(rows.length * size);
  for (const [at, [vectors, i]] of rows.entries()) floats.set(embeddingAt(vectors, i), at * size);
  return {
    ref,
    ids: [...last.keys()],
    floats,
    metadata: rows.map(([vectors, i]) => metadataAt(vectors, i)?.toString('utf8') ?? null),
  };
}
