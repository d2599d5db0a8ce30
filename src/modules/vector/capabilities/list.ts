import Type from 'typebox';
import { decodeCursor, encodeCursor, page } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, pageFields } from '../../../kit/fields.ts';
import { requireRow } from '../../../kit/resource.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { invalidField } from '../../../problems/problem.ts';
import { collections } from '../collections/resource.ts';
import { isStorable } from '../items/metadata.ts';
import { listItems } from '../items/store.ts';
import { shortMetadata } from '../items/stored.ts';
import { ANSWER_BYTES_MAX, ID_BYTES_MAX } from '../limits.ts';
import { collectionField, itemSchema } from '../schemas.ts';
import type { VectorState } from '../state.ts';

/** More than an id with escapes takes. */
const ITEM_BYTES_BESIDE = 6 * ID_BYTES_MAX + 64;

export const list = defineCapability<VectorState>()({
  method: 'GET',
  path: '/v1/vector/list',
  summary: 'Lists the vectors of a collection.',
  description:
    'Ids and metadata by id, page by page; with prefix only ids that begin with it. For embeddings use fetch. ' +
    'A page ends early where it would be too large: has_more tells whether there is another.',
  keywords: ['list vector ids', 'scroll vectors', 'enumerate embeddings'],
  input: Type.Object({
    collection: collectionField,
    prefix: Type.Optional(Type.String({ maxLength: ID_BYTES_MAX, description: 'What ids must begin with.' })),
    cursor: cursorField,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Vectors a page, 1 to 100; 20 when not sent.' }),
    ),
  }),
  output: Type.Object({
    collection: Type.String({ description: 'The name sent.' }),
    items: Type.Array(itemSchema, { description: 'This page.' }),
    ...pageFields,
  }),
  errors: ['COLLECTION_NOT_FOUND'],
  limits: { answer: `${ANSWER_BYTES_MAX} bytes a page.` },
  examples: [
    {
      title: 'The chunks of one document',
      before: [
        { capability: 'vector.collection.create', input: { collection: 'docs', dimension: 2 } },
        {
          capability: 'vector.upsert',
          input: {
            collection: 'docs',
            vectors: [
              { id: 'guide#1', embedding: [1, 0] },
              { id: 'other#1', embedding: [0, 1] },
            ],
          },
        },
      ],
      input: { collection: 'docs', prefix: 'guide#' },
      expect: { items: [{ id: 'guide#1' }], has_more: false },
    },
  ],
  async run({ ctx, input: { collection, prefix = '', cursor, limit = 20 } }) {
    const { db, secrets } = ctx.core;
    if (!isStorable(prefix)) throw invalidField('prefix', 'characters', 'prefix holds half of a surrogate pair.');
    const row = await requireRow(collections, db, ctx, collection);
    const binding = [ctx.accountId, ctx.capability, collection, prefix];
    const [after = ''] = cursor === undefined ? [] : decodeCursor(secrets, binding, cursor);
    const rows = await listItems(db, row, { after: String(after), prefix, limit: limit + 1 });
    const shown = page(rows, Math.min(limit, fittingOf(rows)), ({ id }) => encodeCursor(secrets, binding, [id]));
    const items: string[] = [];
    for (const { id, metadata } of shown.items)
      items.push(`{"id":${JSON.stringify(id)},"metadata":${(await shortMetadata(metadata)) ?? 'null'}}`);
    const rest = JSON.stringify({ next_cursor: shown.next_cursor, has_more: shown.has_more });
    return { data: new JsonText(`{"collection":"${collection}","items":[${items.join(',')}],${rest.slice(1)}`) };
  },
});

/** How many of the rows one answer may hold: one at least, and all of them as a rule. */
function fittingOf(rows: readonly { readonly metadata: string | null }[]): number {
  let bytes = 0;
  const tooMany = rows.findIndex(({ metadata }) => {
    bytes += ITEM_BYTES_BESIDE + Buffer.byteLength(metadata ?? '');
    return bytes > ANSWER_BYTES_MAX;
  });
  return tooMany === -1 ? rows.length : Math.max(1, tooMany);
}
