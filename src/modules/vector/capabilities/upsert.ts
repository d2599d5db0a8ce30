import Type from 'typebox';
import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { UPSERT_BODY_BYTES_MAX, UPSERT_VECTORS_MAX } from '../limits.ts';
import { collectionField, embeddingField, idField, metadataField, okField, singleId } from '../schemas.ts';
import type { VectorState } from '../state.ts';
import { type PackedVectors, packVectors, type SentVector } from '../writing/packed.ts';

const ROW_BYTES = 256;

interface UpsertBody {
  readonly collection: string;
  readonly vectors: PackedVectors;
}

export const upsert = defineCapability<VectorState>()({
  method: 'POST',
  path: '/v1/vector/upsert',
  summary: 'Stores vectors, new or in place of those with the same id.',
  description:
    'All or nothing, durable before it answers, and seen by every query that starts after the answer. An id that is there is overwritten, ' +
    'metadata included; of an id sent twice the last counts, once. Numbers are kept as 32-bit floats. Send many vectors a call: it is ' +
    'faster, and the least price of a call covers ten.',
  keywords: [
    'insert embeddings',
    'store vectors',
    'add documents to rag',
    'index embeddings',
    'pinecone upsert',
    'save embeddings',
  ],
  input: Type.Object({
    collection: collectionField,
    vectors: Type.Array(
      Type.Object(
        {
          id: idField,
          embedding: embeddingField(
            'As many numbers as the collection has dimensions, or base64 of them as little-endian 32-bit floats.',
          ),
          metadata: Type.Optional(metadataField),
        },
        { description: 'A vector.' },
      ),
      { minItems: 1, maxItems: UPSERT_VECTORS_MAX, description: `1 to ${UPSERT_VECTORS_MAX} vectors.` },
    ),
  }),
  output: Type.Object({
    collection: Type.String({ description: 'The name sent.' }),
    upserted: Type.Integer({ description: 'Vectors stored: distinct ids.' }),
    ok: okField,
    id: singleId,
  }),
  price: 'vector.upsert',
  bodyBytesMax: UPSERT_BODY_BYTES_MAX,
  opaque: ['metadata'],
  bulk: {
    source: import.meta.url,
    reduce: ({ collection, vectors: sent }: { collection: string; vectors: readonly SentVector[] }) => {
      const vectors = packVectors(sent);
      return { value: { collection, vectors }, transfer: [vectors.floats.buffer, vectors.metadata.buffer] };
    },
  },
  errors: ['COLLECTION_NOT_FOUND', 'DIMENSION_MISMATCH'],
  events: ['wallet.low_balance'],
  limits: {
    vectors: `${UPSERT_VECTORS_MAX} a call.`,
    metadata: '16 KiB and 64 keys a vector.',
    id: '256 bytes.',
  },
  examples: [
    {
      title: 'Two documents',
      before: [{ capability: 'vector.collection.create', input: { collection: 'docs', dimension: 3 } }],
      input: {
        collection: 'docs',
        vectors: [
          { id: 'intro', embedding: [0.1, 0.9, 0.2], metadata: { lang: 'en', year: 2026 } },
          { id: 'usage', embedding: [0.8, 0.1, 0.3], metadata: { lang: 'de', tags: ['how-to', 'draft'] } },
        ],
      },
      expect: { collection: 'docs', upserted: 2, ok: true, id: null },
    },
    {
      title: 'One, as base64, safe to repeat',
      before: [{ capability: 'vector.collection.create', input: { collection: 'docs', dimension: 2 } }],
      input: { collection: 'docs', vectors: [{ id: 'a', embedding: 'AACAPwAAAEA=' }], idempotency_key: 'docs-1' },
      expect: { upserted: 1, id: 'a' },
    },
  ],
  run({ ctx, input, state }) {
    // What `bulk` made of the input.
    const { collection, vectors } = input as unknown as UpsertBody;
    const rows = vectors.ids.length;
    return chargeInLane(ctx, {
      units: BigInt(rows),
      effect: state.changing,
      input: { kind: 'upsert', collection, vectors },
      sequences: 0,
      bytes: vectors.floats.length + vectors.metadata.length + rows * ROW_BYTES,
      rows,
    });
  },
});
