import Type from 'typebox';
import { type Account, findAccount } from '../../../../core/accounts/accounts.ts';
import { defineCapability } from '../../../../manifest/capability.ts';
import type { AccountState } from '../../state.ts';
import { accountSchema, profileRecord } from './schemas.ts';

export const get = defineCapability<AccountState>()({
  id: 'account.get',
  method: 'GET',
  path: '/v1/account/get',
  summary: 'Shows the account.',
  description: 'Its name, tier and bound address, whether its owner is verified, and whether it is to be deleted.',
  input: Type.Object({}),
  output: accountSchema,
  price: 'free',
  scope: 'read',
  idempotent: false,
  errors: [],
  events: [],
  examples: [{ title: 'The account', input: {}, expect: { kyc_status: 'none', purge_at: null } }],
  async run({ ctx }) {
    return { data: profileRecord((await findAccount(ctx.core.db, ctx.accountId)) as Account) };
  },
});
