// The engine interface. An engine is no source of truth: it reads a collection's rows from the database, as new as the search requires.
import type { Sweep } from '../../../core/background/sweeper/sweep.ts';

export const metrics = ['cosine', 'euclidean', 'dotproduct'] as const;
export type Metric = (typeof metrics)[number];

/** A collection as the asking call read it. */
export interface CollectionRef {
  readonly accountId: string;
  /** Another one each time a name is created. */
  readonly collectionId: string;
  readonly dimension: number;
  readonly metric: Metric;
  /** Every change up to this one must be seen. */
  readonly version: number;
}

export type Scalar = string | number | boolean | null;

/**
 * One test of one top-level key of the metadata. A stored array passes when one of its elements does. `ne` is the opposite of
 * `eq`: it passes without the key too. Order compares numbers with numbers and texts with texts (by code point), nothing else.
 */
export type Condition =
  | { readonly key: string; readonly op: 'eq' | 'ne'; readonly value: Scalar }
  | { readonly key: string; readonly op: 'in'; readonly values: readonly Scalar[] }
  | { readonly key: string; readonly op: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: number | string }
  | { readonly key: string; readonly op: 'exists'; readonly value: boolean };

/** All of them must pass. */
export type Filter = readonly Condition[];

export interface Search {
  /** Of the collection's dimension, finite, not zero under cosine. */
  readonly vector: Float32Array;
  /** At least 1. */
  readonly topK: number;
  readonly filter: Filter | null;
  /** Never an approximation, however large the collection. */
  readonly exact: boolean;
}

export interface Match {
  readonly id: string;
  /** Higher is better: cosine in [-1, 1], the dot product, or the negative Euclidean distance; over the stored f32 in f64. */
  readonly score: number;
  /** The version of the row that was scored. */
  readonly version: number;
}

export interface SearchResult {
  /** Best first; equal scores by id (code units). As many as topK when so many match. */
  readonly matches: readonly Match[];
  readonly plan: 'exact' | 'ivf';
  /** Rows that pass the filter. */
  readonly rowsMatched: number;
  /** Rows whose score was computed, be it roughly. */
  readonly rowsScanned: number;
  readonly exact: boolean;
}

export interface IndexState {
  readonly state: 'cold' | 'loading' | 'ready';
  /** Memory held for the collection on this process. */
  readonly bytes: number;
}

/** Vectors as a commit left them, each id once, and nothing else that the commit changed in the collection. */
export interface Change {
  /** `version` is that of the commit: the one before it is one less. */
  readonly ref: CollectionRef;
  readonly ids: readonly string[];
  /** Little-endian f32 of each, one after the other; given away. */
  readonly floats: Uint8Array<ArrayBuffer>;
  /** JSON text of each. */
  readonly metadata: readonly (string | null)[];
}

export interface VectorEngine {
  readonly name: 'embedded' | 'pgvector';
  /** Upkeep of what all processes share. */
  readonly sweeps?: readonly Sweep[];
  /**
   * One result per search, all of one state of the collection, at `ref.version` or later. A collection that is not in memory is
   * loaded first. Throws CollectionGone when it was deleted meanwhile, and what the database throws.
   */
  search(ref: CollectionRef, searches: readonly Search[], signal: AbortSignal): Promise<SearchResult[]>;
  /** A hint: an engine that holds the state before the commit need not read it. */
  noteChange?(change: Change): void;
  /** What this process holds of it now. */
  indexState(ref: CollectionRef): IndexState;
  /** Frees what is held of a deleted collection. */
  forget(accountId: string, collectionId: string): void;
  /** Values for /metrics, by name. */
  gauges(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

export class CollectionGone extends Error {}
