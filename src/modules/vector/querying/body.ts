// Parses the body of a query: one embedding with its top_k and filter, or several.
import { invalidField, problem } from '../../../problems/problem.ts';
import type { Filter } from '../engine/port.ts';
import { lengthOf, type SentEmbedding, writeEmbedding } from '../items/embedding.ts';
import { parseFilter } from '../items/filter.ts';
import { TOP_K_DEFAULT } from '../limits.ts';

interface SentQuery {
  readonly embedding?: SentEmbedding;
  readonly top_k?: number;
  readonly filter?: Record<string, unknown>;
}

export interface SentQueries extends SentQuery {
  readonly collection: string;
  readonly queries?: readonly SentQuery[];
  readonly include_metadata?: boolean;
  readonly include_values?: boolean;
  readonly exact?: boolean;
}

export interface Query {
  readonly vector: Float32Array<ArrayBuffer>;
  readonly isZero: boolean;
  readonly topK: number;
  readonly filter: Filter | null;
  /** Path of its embedding in the request. */
  readonly at: string;
}

export interface QueryBody {
  readonly collection: string;
  readonly queries: readonly Query[];
  /** Several were asked for, in `queries`: they are answered in `results`. */
  readonly several: boolean;
  readonly withMetadata: boolean;
  readonly withValues: boolean;
  readonly exact: boolean;
}

/** Throws VALIDATION_FAILED, INVALID_REQUEST, UNSUPPORTED_FILTER. */
export function readQueries(sent: SentQueries): QueryBody {
  const { collection, queries } = sent;
  if (queries !== undefined) refuseBoth(sent);
  return {
    collection,
    queries:
      queries === undefined ? [readQuery(sent, '')] : queries.map((query, i) => readQuery(query, `queries[${i}].`)),
    several: queries !== undefined,
    withMetadata: sent.include_metadata ?? true,
    withValues: sent.include_values ?? false,
    exact: sent.exact ?? false,
  };
}

function refuseBoth(sent: SentQueries): void {
  for (const name of ['embedding', 'top_k', 'filter'] as const) {
    if (sent[name] !== undefined)
      throw problem('INVALID_REQUEST', { param: name, message: `Send ${name} within each of queries, or no queries.` });
  }
}

function readQuery({ embedding, top_k: topK = TOP_K_DEFAULT, filter }: SentQuery, prefix: string): Query {
  const at = `${prefix}embedding`;
  if (embedding === undefined) throw invalidField(at, 'required', `${at} is required.`);
  const vector = new Float32Array(lengthOf(embedding, at));
  const isZero = writeEmbedding(embedding, vector, at);
  return { vector, isZero, topK, filter: parseFilter(filter, `${prefix}filter`), at };
}
