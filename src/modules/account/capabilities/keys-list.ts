import Type from 'typebox';
import { decodeCursor, encodeCursor, page } from '../../../core/cursors.ts';
import { keyRecord, listKeys } from '../../../core/keys/store.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { keySchema } from '../schemas.ts';
import type { AccountState } from '../state.ts';

const LIMIT_DEFAULT = 20;

export const keysList = defineCapability<AccountState>()({
  id: 'account.keys.list',
  method: 'GET',
  path: '/v1/account/keys/list',
  summary: 'Lists the API keys of the account.',
  description:
    'Every key, newest first, revoked and expired ones included; secrets are never shown. Without cursor and limit the whole list ' +
    'comes at once; with either of them, page by page: send next_cursor until has_more is false.',
  input: Type.Object({
    cursor: Type.Optional(Type.String({ maxLength: 4096, description: 'next_cursor of the page before.' })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: `Keys a page, 1 to 100; ${LIMIT_DEFAULT} when only a cursor is sent.`,
      }),
    ),
  }),
  output: Type.Object({
    items: Type.Array(keySchema),
    next_cursor: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Send it as cursor to get the next page.',
    }),
    has_more: Type.Boolean({ description: 'Whether there is a next page.' }),
  }),
  price: 'free',
  scope: 'read',
  idempotent: false,
  errors: [],
  events: [],
  examples: [
    { title: 'All keys', input: {}, expect: { next_cursor: null, has_more: false } },
    { title: 'The newest key', input: { limit: 1 } },
  ],
  async run({ ctx, input: { cursor, limit } }) {
    const { db, secrets } = ctx.core;
    if (cursor === undefined && limit === undefined) {
      const keys = await listKeys(db, ctx.accountId, null, null);
      return { data: { items: keys.map(keyRecord), next_cursor: null, has_more: false } };
    }
    const binding = [ctx.accountId, ctx.capability];
    const [beforeId = null] = cursor === undefined ? [] : decodeCursor(secrets, binding, cursor);
    const size = limit ?? LIMIT_DEFAULT;
    const keys = await listKeys(db, ctx.accountId, beforeId === null ? null : String(beforeId), size + 1);
    const shown = page(keys, size, (key) => encodeCursor(secrets, binding, [key.keyId]));
    return { data: { ...shown, items: shown.items.map(keyRecord) } };
  },
});
