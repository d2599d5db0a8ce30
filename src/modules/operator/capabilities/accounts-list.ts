import Type from 'typebox';
import { listAccounts, searchAccounts } from '../../../core/accounts/accounts.ts';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf, plainText } from '../../../kit/fields.ts';
import { accountSchema, accountView } from '../schemas.ts';

export const accountsList = defineCapability()({
  method: 'GET',
  path: '/v1/operator/accounts/list',
  summary: 'Lists all accounts, or those that are looked for.',
  description:
    'For the operator of the service only. In the order of their ids; `search` finds those whose id, name or address begins with it.',
  keywords: ['find customers', 'search tenants', 'all accounts'],
  input: Type.Object({
    search: Type.Optional(
      plainText(254, 'How an id, a name or an e-mail address begins; in names and addresses A is a.'),
    ),
    cursor: cursorField,
    limit: limitField,
  }),
  output: pageOf(accountSchema),
  examples: [{ title: 'By the beginning of a name', input: { search: 'no such na' }, expect: { has_more: false } }],
  async run({ ctx, input: { search, cursor, limit } }) {
    const { db } = ctx.core;
    const shown = await listPage(
      ctx,
      { cursor, limit },
      {
        filters: [search ?? ''],
        read: (after, rows) =>
          search === undefined ? listAccounts(db, after ?? '', rows) : searchAccounts(db, search, after ?? '', rows),
        positionOf: ({ accountId }) => accountId,
      },
    );
    return { data: { ...shown, items: shown.items.map(accountView) } };
  },
});
