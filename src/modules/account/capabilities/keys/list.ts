import Type from 'typebox';
import { keyRecord } from '../../../../core/keys/key-record.ts';
import { listKeys } from '../../../../core/keys/store.ts';
import { LIMIT_DEFAULT, listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { keySchema } from '../../schemas.ts';

/** Without cursor and limit; no tier allows more keys that can be used. */
const WHOLE_LIST_MAX = 5_000;

export const keysList = defineCapability()({
  method: 'GET',
  path: '/v1/account/keys/list',
  summary: 'Lists the API keys of the account.',
  description:
    'Every key, newest first, expired ones included, and revoked ones for 30 days; secrets are never shown. Without cursor and limit ' +
    `the whole list comes at once (at most ${WHOLE_LIST_MAX} keys, the newest); with either of them, page by page: send next_cursor until has_more is false.`,
  keywords: ['show api keys', 'list tokens', 'which credentials exist'],
  input: Type.Object({
    status: Type.Optional(
      Type.Enum(['active', 'rotating', 'revoked', 'expired'], { description: 'Only keys with this status.' }),
    ),
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
  currentSecretOnly: true,
  examples: [
    { title: 'All keys', input: {}, expect: { next_cursor: null, has_more: false } },
    { title: 'The newest key', input: { limit: 1 } },
    { title: 'Keys that were revoked in the last 30 days', input: { status: 'revoked' }, expect: { has_more: false } },
  ],
  async run({ ctx, input: { cursor, limit, status } }) {
    const { db } = ctx.core;
    const size = limit ?? (cursor === undefined ? WHOLE_LIST_MAX : LIMIT_DEFAULT);
    const shown = await listPage(
      ctx,
      { cursor, limit: size },
      {
        filters: [status ?? ''],
        read: (beforeId, rows) => listKeys(db, ctx.accountId, beforeId, rows, status ?? null),
        positionOf: (key) => key.keyId,
      },
    );
    return { data: { ...shown, items: shown.items.map(keyRecord) } };
  },
});
