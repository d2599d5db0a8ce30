import Type, { type Static, type TObject } from 'typebox';
import { chargeForWork, priceOfCall } from '../../../core/wallet/charge/charge.ts';
import { ANSWER_ROW_BYTES, mayFallShort } from '../../../core/wallet/charge/charge-answer.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { invalidField } from '../../../problems/problem.ts';
import { collectionNotFound } from '../collections/resource.ts';
import {
  ANSWER_BYTES_MAX,
  MATCH_VALUES_MAX,
  QUERIES_MAX,
  QUERY_BODY_BYTES_MAX,
  TOP_K_DEFAULT,
  TOP_K_MAX,
} from '../limits.ts';
import { type QueryBody, readQueries, type SentQueries } from '../querying/body.ts';
import { answerQueries } from '../querying/search.ts';
import { collectionField, embeddingField, optionalFilterField, resultFields } from '../schemas.ts';
import type { VectorState } from '../state.ts';

/** In JSON they are no more than a few hundred kilobytes. */
const FEW_NUMBERS = 16 * 1_024;

const queryFields = {
  embedding: Type.Optional(
    embeddingField('What to look for: as many numbers as the collection has dimensions, or base64 of 32-bit floats.'),
  ),
  top_k: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: TOP_K_MAX,
      description: `Matches wanted, 1 to ${TOP_K_MAX}; ${TOP_K_DEFAULT} when not sent.`,
    }),
  ),
  filter: optionalFilterField,
};

const exactlyOne = Type.Object(resultFields);

export const query = defineCapability<VectorState>()({
  method: 'POST',
  path: '/v1/vector/query',
  summary: 'Finds the most similar vectors.',
  description:
    'The top_k vectors most similar to an embedding, best first. A filter on metadata applies before the search, so fewer than top_k come back ' +
    'only when fewer match. It sees every upsert that was answered before it began. Several searches in one call: send queries.',
  keywords: ['similarity search', 'nearest neighbours', 'knn', 'semantic search', 'rag retrieval', 'cosine similarity'],
  input: Type.Object({
    collection: collectionField,
    ...queryFields,
    queries: Type.Optional(
      Type.Array(Type.Object(queryFields, { description: 'A search.' }), {
        minItems: 1,
        maxItems: QUERIES_MAX,
        description: `Up to ${QUERIES_MAX} searches instead of one, answered in results; each is charged.`,
      }),
    ),
    include_metadata: Type.Optional(
      Type.Boolean({ description: 'Whether matches carry their metadata; true when not sent.' }),
    ),
    include_values: Type.Optional(
      Type.Boolean({ description: 'Whether matches carry their embedding; false when not sent.' }),
    ),
    exact: Type.Optional(
      Type.Boolean({ description: 'Never approximate, however large the collection; false when not sent.' }),
    ),
  }),
  output: Type.Unsafe<Static<TObject<typeof resultFields>>>({
    type: 'object',
    description: 'One result, or results when queries were sent.',
    properties: {
      collection: Type.String({ description: 'The name sent.' }),
      ...resultFields,
      results: Type.Array(exactlyOne, { description: 'One for each of queries, in their order.' }),
    },
    required: ['collection'],
    anyOf: [
      { required: ['matches', 'items', 'next_cursor', 'has_more', 'raw_vendor_payload'] },
      { required: ['results'] },
    ],
  }),
  price: 'vector.query',
  isLongRead: true,
  bodyBytesMax: QUERY_BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (input: SentQueries) => {
      const value = readQueries(input);
      return { value, transfer: value.queries.map(({ vector }) => vector.buffer) };
    },
  },
  errors: ['COLLECTION_NOT_FOUND', 'DIMENSION_MISMATCH', 'UNSUPPORTED_FILTER'],
  events: ['wallet.low_balance'],
  limits: {
    top_k: `${TOP_K_MAX}.`,
    queries: `${QUERIES_MAX} a call.`,
    filter: '16 keys; operators $in, $ne, $gt, $gte, $lt, $lte, $exists.',
    values: `With include_values, top_k of all queries times the dimension is at most ${MATCH_VALUES_MAX}.`,
    answer: `${ANSWER_BYTES_MAX} bytes, of which each match takes its own twice; a call that would be answered with more is refused and not charged.`,
  },
  examples: [
    {
      title: 'The nearest German document',
      before: [
        { capability: 'vector.collection.create', input: { collection: 'docs', dimension: 3 } },
        {
          capability: 'vector.upsert',
          input: {
            collection: 'docs',
            vectors: [
              { id: 'intro', embedding: [0.1, 0.9, 0.2], metadata: { lang: 'en' } },
              { id: 'usage', embedding: [0.8, 0.1, 0.3], metadata: { lang: 'de' } },
            ],
          },
        },
      ],
      input: { collection: 'docs', embedding: [0.1, 0.8, 0.2], top_k: 1, filter: { lang: 'de' } },
      expect: { collection: 'docs', matches: [{ id: 'usage', metadata: { lang: 'de' } }] },
    },
    {
      title: 'Two searches at once',
      before: [
        { capability: 'vector.collection.create', input: { collection: 'docs', dimension: 2, metric: 'euclidean' } },
        { capability: 'vector.upsert', input: { collection: 'docs', vectors: [{ id: 'a', embedding: [3, 4] }] } },
      ],
      input: { collection: 'docs', queries: [{ embedding: [0, 0] }, { embedding: [3, 4], top_k: 5 }] },
      expect: { results: [{ matches: [{ id: 'a', distance: 5 }] }, { matches: [{ id: 'a', distance: 0 }] }] },
    },
  ],
  async run({ ctx, input, state }) {
    // What `bulk` made of the input.
    const body = input as unknown as QueryBody;
    const { collection, funds } = await state.reading.add(ctx.accountId, body.collection);
    if (collection === null) throw collectionNotFound();
    const numbers = body.queries.reduce((sum, { topK }) => sum + topK, 0) * collection.dimension;
    if (body.withValues && numbers > MATCH_VALUES_MAX) throw tooManyValues();
    const units = BigInt(body.queries.length);
    const holdFirst = mayFallShort(ctx, priceOfCall(ctx, units), funds);
    const charge = { units, effect: state.querying };
    const answer = () => answerQueries(ctx, state, body, collection);
    return chargeForWork(ctx, { ...charge, sequences: 0, bytes: ANSWER_ROW_BYTES, rows: 1 }, holdFirst, () =>
      body.withValues && numbers > FEW_NUMBERS ? state.longAnswers.run(ctx.accountId, null, answer) : answer(),
    );
  },
});

function tooManyValues() {
  return invalidField(
    'include_values',
    'too_many_values',
    `top_k times the dimension must be at most ${MATCH_VALUES_MAX} with include_values.`,
  );
}
