// Operator settings of vector search.
import type { Variables } from '../../config/variables.ts';

export function vectorSettings(variables: Variables) {
  return {
    /** What searches: this process's memory, or the extension pgvector of the database. */
    engine: variables.oneOf('VECTOR_ENGINE', ['embedded', 'pgvector'], 'embedded'),
    /** Memory for search indexes, MiB. */
    memoryMb: variables.integer('VECTOR_MEMORY_MB', 1024, { min: 16, max: 1_048_576 }),
  };
}

export type VectorSettings = ReturnType<typeof vectorSettings>;
