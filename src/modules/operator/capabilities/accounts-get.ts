import Type from 'typebox';
import { findAccount } from '../../../core/accounts/accounts.ts';
import { balanceOf } from '../../../core/wallet/ledger/read.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import { roleField } from '../../../kit/role-field.ts';
import { membersOf } from '../../../people/persons.ts';
import { accountFields, accountIdField, accountView, noAccount, usdField } from '../schemas.ts';

export const accountsGet = defineCapability()({
  method: 'GET',
  path: '/v1/operator/accounts/get/{account_id}',
  summary: 'Shows an account with its balance and its people.',
  description: 'For the operator of the service only. Addresses are shown in full.',
  keywords: ['customer details', 'inspect tenant'],
  input: Type.Object({ account_id: accountIdField }),
  output: Type.Object(
    {
      ...accountFields,
      balance: Type.Object(
        {
          balance_usd: usdField('What it can spend now.'),
          held_usd: usdField('Held for work that is running.'),
          debt_usd: usdField('What it owes.'),
          frozen_reason: textOrNull('Why its billable calls are refused: dispute, debt or suspended.'),
        },
        { description: 'Its wallet.' },
      ),
      people: Type.Array(
        Type.Object({
          person_id: Type.String({ description: 'Id of the person.' }),
          role: roleField,
          name: textOrNull('Name of the person.'),
          email: textOrNull('Address of the person.'),
        }),
        { description: 'Who may sign in and act for it.' },
      ),
    },
    { title: 'OperatorAccountDetail' },
  ),
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'The operator’s own',
      before: [{ capability: 'account.get', input: {} }],
      input: { account_id: '$0.account_id' },
      expect: { suspended: false },
    },
  ],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const account = await findAccount(db, input.account_id);
    if (account === null) throw noAccount();
    const [members, balance] = await Promise.all([membersOf(db, account.accountId), balanceOf(db, account.accountId)]);
    const { balance_usd, held_usd, debt_usd, frozen_reason } = balance;
    const people = members.map(({ personId, role, name, email }) => ({ person_id: personId, role, name, email }));
    return {
      data: { ...accountView(account), balance: { balance_usd, held_usd, debt_usd, frozen_reason }, people },
    };
  },
});
