import Type from 'typebox';
import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { metadataText } from '../items/metadata.ts';
import { collectionField, idField, metadataField, okField } from '../schemas.ts';
import type { VectorState } from '../state.ts';

const FIXED_BYTES = 512;

export const update = defineCapability<VectorState>()({
  method: 'PATCH',
  path: '/v1/vector/update',
  summary: 'Replaces the metadata of a vector.',
  description:
    'The embedding stays as it is; the metadata sent takes the place of all that was there, null removes it. Costs as much as an upsert of one vector.',
  keywords: ['update vector metadata', 'change metadata of an embedding'],
  input: Type.Object({ collection: collectionField, id: idField, metadata: metadataField }),
  output: Type.Object({
    collection: Type.String({ description: 'The name sent.' }),
    ok: okField,
    id: Type.String({ description: 'The id sent.' }),
    metadata: metadataField,
  }),
  price: 'vector.upsert',
  opaque: ['metadata'],
  errors: ['COLLECTION_NOT_FOUND', 'NOT_FOUND'],
  events: ['wallet.low_balance'],
  examples: [
    {
      title: 'No longer a draft',
      before: [
        { capability: 'vector.collection.create', input: { collection: 'docs', dimension: 2 } },
        {
          capability: 'vector.upsert',
          input: { collection: 'docs', vectors: [{ id: 'a', embedding: [1, 0], metadata: { draft: true } }] },
        },
      ],
      input: { collection: 'docs', id: 'a', metadata: { published: '2026-11-21' } },
      expect: { ok: true, id: 'a', metadata: { published: '2026-11-21' } },
    },
  ],
  run({ ctx, input: { collection, id, metadata: sent }, state }) {
    const metadata = sent === null ? null : Buffer.from(metadataText(sent, 'metadata'));
    return chargeInLane(ctx, {
      units: 1n,
      effect: state.changing,
      input: { kind: 'update', collection, id, metadata },
      sequences: 0,
      bytes: (metadata?.length ?? 0) + FIXED_BYTES,
      rows: 1,
    });
  },
});
