// Limits of the vector module (specification, "Limits"; contract of vector).

export const DIMENSION_MAX = 4_096;
export const UPSERT_VECTORS_MAX = 1_000;
export const UPSERT_BODY_BYTES_MAX = 32 * 1024 * 1024;
export const QUERY_BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Of lists of ids and of filters: twice 1,000 ids of 256 bytes, which escapes may make longer. */
export const IDS_BODY_BYTES_MAX = 512 * 1024;
export const IDS_MAX = 1_000;
export const TOP_K_MAX = 1_000;
export const TOP_K_DEFAULT = 10;
export const QUERIES_MAX = 16;
export const ID_BYTES_MAX = 256;
export const NAME_CHARACTERS_MAX = 128;
export const METADATA_BYTES_MAX = 16 * 1024;
export const METADATA_KEYS_MAX = 64;
export const FILTER_KEYS_MAX = 16;
export const FILTER_VALUES_MAX = 1_000;
/** Numbers of embeddings in one answer: writing more would keep other calls waiting. */
export const VALUES_MAX = 256 * 1024;
/** Half as many, for they stand in matches and in items. */
export const MATCH_VALUES_MAX = 128 * 1024;
/** Of one answer, each occurrence counted; twice in a query's, for matches stand in items too. */
export const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** Work on one collection lets others on its thread go on after so long. */
export const SLICE_MS = 10;
