import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { requireRoom } from '../../../../kit/resource.ts';
import { alsoNamed } from '../../../../kit/second-names.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { canonicalJson } from '../../../../lib/canonical-json.ts';
import { newId } from '../../../../lib/ids.ts';
import { memberSources } from '../../../../lib/json-source.ts';
import { JsonText } from '../../../../lib/json-text.ts';
import { problem } from '../../../../problems/problem.ts';
import {
  type CollectionRow,
  collectionTable,
  collectionText,
  saveCollection,
  vectorLimits,
} from '../../collections/store.ts';
import { metrics } from '../../engine/port.ts';
import { metadataText, tooLarge } from '../../items/metadata.ts';
import { DIMENSION_MAX, METADATA_BYTES_MAX } from '../../limits.ts';
import { collectionField, collectionSchema, metadataField } from '../../schemas.ts';
import type { VectorState } from '../../state.ts';

export const collectionCreate = defineCapability<VectorState>()({
  method: 'POST',
  path: '/v1/vector/collection/create',
  summary: 'Creates a collection of vectors.',
  description:
    'Creates a collection for embeddings of one dimension and answers it. Creating it again with the same settings answers what is there; ' +
    'with others it is 409 ALREADY_EXISTS. Take cosine unless the model that makes the embeddings says otherwise.',
  keywords: ['create vector index', 'new pinecone index', 'rag collection', 'semantic search store'],
  input: Type.Object({
    collection: alsoNamed(collectionField, 'name'),
    dimension: Type.Integer({
      minimum: 1,
      maximum: DIMENSION_MAX,
      description: `Length of every embedding, 1 to ${DIMENSION_MAX}.`,
    }),
    metric: Type.Optional(
      Type.Enum([...metrics], {
        default: 'cosine',
        description: '`cosine` (default), `dotproduct`, or `euclidean` (by the negative distance).',
      }),
    ),
    metadata: Type.Optional(metadataField),
  }),
  output: collectionSchema,
  opaque: ['metadata'],
  errors: ['ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
  limits: {
    collections: '1,000 collections an account (standard tier), 5,000 (pro), 50,000 (enterprise).',
    dimension: `1 to ${DIMENSION_MAX}.`,
  },
  examples: [
    {
      title: 'For text embeddings',
      input: { collection: 'docs', dimension: 1536, metadata: { model: 'text-embedding-3-small' } },
      expect: { collection: 'docs', dimension: 1536, metric: 'cosine', vector_count: 0, state: 'ready' },
    },
  ],
  async run({ ctx, input, state }) {
    const { accountId } = ctx;
    const { collection: name, dimension, metric = 'cosine' } = input;
    const metadata = sentMetadata(ctx, input.metadata);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const existing = await collectionTable.find(tx, ctx, name);
      if (existing !== null) {
        refuseOther(existing, { dimension, metric, metadata });
        return new JsonText(collectionText(existing, state.engine));
      }
      await requireRoom(tx, ctx, 'collection', vectorLimits.collections);
      const collectionId = newId('vcol_', nowMs);
      const row = saveCollection(tx, ctx, {
        account_id: accountId,
        name,
        collection_id: collectionId,
        dimension,
        metric,
        metadata,
        version: 0n,
        forgotten_version: 0n,
        vector_count: 0n,
        created_at: nowMs,
        updated_at: nowMs,
      });
      return new JsonText(collectionText(row, state.engine));
    });
  },
});

/** Its source text: metadata goes out as it came in, white space included, so that counts as well. */
function sentMetadata({ inputText }: CallContext, value: Record<string, unknown> | null | undefined): string | null {
  if (value == null) return null;
  metadataText(value, 'metadata');
  const { start, end } = memberSources(inputText).get('metadata') as { start: number; end: number };
  const source = inputText.slice(start, end);
  if (Buffer.byteLength(source) > METADATA_BYTES_MAX) throw tooLarge('metadata');
  return source;
}

/** Creating again what is there already is no error. */
function refuseOther(
  existing: CollectionRow,
  settings: Pick<CollectionRow, 'dimension' | 'metric' | 'metadata'>,
): void {
  const differing = (['dimension', 'metric', 'metadata'] as const).find(
    (name) => plain(existing[name]) !== plain(settings[name]),
  );
  if (differing !== undefined) {
    throw problem('ALREADY_EXISTS', {
      param: 'collection',
      message: `The collection ${existing.name} exists with other settings (${differing}).`,
    });
  }
}

/** The order of keys and white space are no settings. */
function plain(value: string | number | null): string {
  return typeof value === 'string' && value.startsWith('{') ? canonicalJson(value) : String(value);
}
