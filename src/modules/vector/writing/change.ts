// What writes vectors: an upsert of many, or new metadata for one that is there.
import type { LaneItem } from '../../../core/wallet/lane/lane-item.ts';
import type { CollectionRow } from '../collections/store.ts';
import type { PackedVectors } from './packed.ts';

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
