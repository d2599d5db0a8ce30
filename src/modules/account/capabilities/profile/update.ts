import Type from 'typebox';
import type { Account } from '../../../../core/accounts/accounts.ts';
import { updateAccount } from '../../../../core/accounts/changes.ts';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { accountSchema, nameChange, profileRecord } from './schemas.ts';

export const update = defineCapability()({
  method: 'PATCH',
  path: '/v1/account/update',
  summary: 'Changes name and notifications of the account.',
  description: 'What is absent stays as it is. A new name is told as account.updated.',
  keywords: ['rename account', 'edit account profile', 'notification settings'],
  input: Type.Object({
    name: nameChange,
    notifications: Type.Optional(
      Type.Object(
        { email: Type.Optional(Type.Boolean({ description: 'Whether mail is sent about spending and payments.' })) },
        { additionalProperties: false, description: 'What its owner is told by mail.' },
      ),
    ),
  }),
  output: accountSchema,
  events: ['account.updated'],
  examples: [
    {
      title: 'A name, and no mail',
      input: { name: 'north-west', notifications: { email: false } },
      expect: { name: 'north-west', notifications: { email: false } },
    },
  ],
  run: ({ ctx, input: { name, notifications } }) =>
    runWrite(ctx, async (tx) => {
      const mails = notifications?.email;
      const changes = { ...(name === undefined ? {} : { name }), ...(mails === undefined ? {} : { mails }) };
      return profileRecord((await updateAccount(tx, ctx.accountId, changes, ctx.requestId)) as Account);
    }),
});
