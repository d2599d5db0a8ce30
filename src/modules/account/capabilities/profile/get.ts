import Type from 'typebox';
import { type Account, findAccount } from '../../../../core/accounts/accounts.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { peopleRecords } from '../../../../people/persons.ts';
import { accountSchema, peopleSchema, profileRecord } from './schemas.ts';

export const get = defineCapability()({
  method: 'GET',
  path: '/v1/account/get',
  summary: 'Shows the account.',
  description:
    'Its name, tier and bound address, whether its owner is verified, who may act for it, and whether it is to be deleted.',
  keywords: ['account profile', 'who am i', 'whoami', 'account details'],
  input: Type.Object({}),
  output: Type.Object({ ...accountSchema.properties, people: peopleSchema }),
  examples: [{ title: 'The account', input: {}, expect: { kyc_status: 'none', purge_at: null } }],
  async run({ ctx }) {
    const { db } = ctx.core;
    const [account, people] = await Promise.all([findAccount(db, ctx.accountId), peopleRecords(db, ctx.accountId)]);
    return { data: { ...profileRecord(account as Account), people } };
  },
});
