// Schemas shared by several capabilities of the vector module.

import Type from 'typebox';
import { orNull } from '../../kit/fields.ts';
import { alsoListed, type FilterOperators } from '../../kit/filter.ts';
import { metrics } from './engine/port.ts';
import { FILTER_KEYS_MAX, ID_BYTES_MAX, IDS_MAX, NAME_CHARACTERS_MAX } from './limits.ts';

// Text that PostgreSQL can hold: no NUL, no lone surrogates.
const STORABLE = '^[^\\u0000\\p{Cs}]*$';

export const collectionField = Type.String({
  minLength: 1,
  maxLength: NAME_CHARACTERS_MAX,
  pattern: '^[A-Za-z0-9._-]+$',
  description: 'Name of the collection: 1 to 128 letters, digits, dots, underscores and hyphens.',
});

export const idField = Type.String({
  minLength: 1,
  maxLength: ID_BYTES_MAX,
  pattern: STORABLE,
  description: `Id of the vector within its collection, up to ${ID_BYTES_MAX} bytes.`,
});

export const idsField = (description: string) => Type.Array(idField, { minItems: 1, maxItems: IDS_MAX, description });

export const embeddingField = (description: string) =>
  Type.Unsafe<readonly number[] | string>({ type: ['array', 'string'], items: { type: 'number' }, description });

const objectOrNull = (description: string) =>
  Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], description });

export const metadataField = objectOrNull(
  'Any JSON object: up to 64 keys and 16 KiB. Filters look at its top-level keys.',
);

const filterOperators: FilterOperators = {
  not_equals: (value) => ({ $ne: value }),
  in: (value) => ({ $in: value }),
  gt: (value) => ({ $gt: value }),
  gte: (value) => ({ $gte: value }),
  lt: (value) => ({ $lt: value }),
  lte: (value) => ({ $lte: value }),
  is_set: () => ({ $exists: true }),
  is_not_set: () => ({ $exists: false }),
};

const filterObjectField = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  maxProperties: FILTER_KEYS_MAX,
  description:
    'Metadata keys with the value they must have; all must hold. A scalar also matches an array that holds it. Instead of a value: ' +
    '{"$in": […]}, {"$ne": v}, {"$gt"|"$gte"|"$lt"|"$lte": number or text}, {"$exists": true|false}; several of them in one object must all hold. ' +
    'Or a list: [{"field": …, "operator": "equals" (not_equals, in, gt, gte, lt, lte, is_set, is_not_set), "value": …}].',
});

export const filterField = alsoListed(filterObjectField, filterOperators);
export const optionalFilterField = alsoListed(Type.Optional(filterObjectField), filterOperators);

export const okField = Type.Boolean({ description: 'true.' });
export const singleId = orNull<string>({ type: 'string' }, 'The id when exactly one was sent, else null.');

export const enginePayload = Type.Object(
  { engine: Type.String({ description: 'What searches: `embedded` or `pgvector`.' }) },
  { description: 'About the engine.' },
);

export const collectionSchema = Type.Object(
  {
    collection: Type.String({ description: 'Name, unique in the account.' }),
    dimension: Type.Integer({ description: 'Length of every embedding.' }),
    metric: Type.Enum([...metrics], { description: 'How vectors are compared.' }),
    metadata: objectOrNull('As sent on creation.'),
    vector_count: Type.Integer({ description: 'Vectors stored, exact.' }),
    state: Type.Enum(['ready', 'pending', 'failed'], { description: '`ready`: it can be used.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was created.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When its content last changed.' }),
    raw_vendor_payload: Type.Object(
      {
        engine: Type.String({ description: 'What searches: `embedded` or `pgvector`.' }),
        bytes: Type.Integer({ description: 'Memory this process holds for the collection.' }),
        index_state: Type.Enum(['cold', 'loading', 'ready'], {
          description: '`cold`: the next query loads it into memory first.',
        }),
      },
      { description: 'About the index on the process that answered.' },
    ),
  },
  { title: 'VectorCollection', description: 'A collection.' },
);

export const itemSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the vector.' }),
    metadata: objectOrNull('Its metadata; null when it has none.'),
    embedding: Type.Optional(
      Type.Array(Type.Number(), { description: 'The stored 32-bit floats, with include_values.' }),
    ),
  },
  { title: 'StoredVector', description: 'A stored vector.' },
);

const matchSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the vector.' }),
    score: Type.Number({
      description: 'Higher is better: cosine from -1 to 1, the dot product, or the negative Euclidean distance.',
    }),
    distance: Type.Optional(Type.Number({ description: 'Euclidean distance; for that metric only.' })),
    metadata: Type.Optional(objectOrNull('Its metadata, unless include_metadata is false; null when it has none.')),
    embedding: Type.Optional(
      Type.Array(Type.Number(), { description: 'The stored 32-bit floats, with include_values.' }),
    ),
  },
  { title: 'VectorMatch', description: 'A match.' },
);

export const resultFields = {
  items: Type.Array(matchSchema, { description: 'Best first; equal scores by id.' }),
  matches: Type.Array(matchSchema, { description: 'The same as items.' }),
  next_cursor: Type.Unsafe<null>({ type: 'null', description: 'Always null: top_k is the whole answer.' }),
  has_more: Type.Unsafe<false>({ type: 'boolean', const: false, description: 'Always false.' }),
  raw_vendor_payload: Type.Object(
    {
      engine: Type.String({ description: 'What searched.' }),
      plan: Type.Enum(['exact', 'ivf'], { description: '`ivf`: a large collection was searched by its lists.' }),
      rows_matched: Type.Integer({ description: 'Vectors that pass the filter.' }),
      rows_scanned: Type.Integer({ description: 'Vectors that were compared.' }),
      exact: Type.Boolean({ description: 'Whether the answer is exact.' }),
    },
    { description: 'How it was searched.' },
  ),
};
