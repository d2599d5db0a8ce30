import Type from 'typebox';
import { LIMIT_DEFAULT, listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, pageFields } from '../../../../kit/fields.ts';
import { JsonText } from '../../../../lib/json-text.ts';
import { type CollectionRow, collectionTable, collectionText } from '../../collections/store.ts';
import { collectionSchema, enginePayload } from '../../schemas.ts';
import type { VectorState } from '../../state.ts';

/** More than an account may have. */
const ALL = 1_000_000;

export const collectionList = defineCapability<VectorState>()({
  method: 'GET',
  path: '/v1/vector/collection/list',
  summary: 'Lists the collections of the account.',
  description:
    'Collections by name. Without cursor and limit the whole list comes at once; with either of them, page by page.',
  keywords: ['list vector indexes', 'show collections', 'which collections there are'],
  input: Type.Object({
    cursor: cursorField,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: `Collections a page, 1 to 100; ${LIMIT_DEFAULT} when only a cursor is sent.`,
      }),
    ),
  }),
  output: Type.Object({
    items: Type.Array(collectionSchema, { description: 'This page, or all.' }),
    collections: Type.Array(collectionSchema, { description: 'The same as items.' }),
    ...pageFields,
    raw_vendor_payload: enginePayload,
  }),
  examples: [
    {
      title: 'All collections',
      before: [{ capability: 'vector.collection.create', input: { collection: 'docs', dimension: 3 } }],
      input: {},
      expect: { collections: [{ collection: 'docs' }], has_more: false },
    },
  ],
  async run({ ctx, input: { cursor, limit }, state }) {
    const size = limit ?? (cursor === undefined ? ALL : LIMIT_DEFAULT);
    const shown = await listPage(
      ctx,
      { cursor, limit: size },
      {
        read: (after, rows) => collectionTable.list(ctx.core.db, ctx, { after, limit: rows }),
        positionOf: collectionTable.positionOf,
      },
    );
    const items = `[${shown.items.map((row: CollectionRow) => collectionText(row, state.engine)).join(',')}]`;
    const rest = JSON.stringify({
      next_cursor: shown.next_cursor,
      has_more: shown.has_more,
      raw_vendor_payload: { engine: state.engine.name },
    });
    return { data: new JsonText(`{"collections":${items},"items":${items},${rest.slice(1)}`) };
  },
});
