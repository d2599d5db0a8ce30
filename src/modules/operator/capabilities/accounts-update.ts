import Type from 'typebox';
import type { Tier } from '../../../core/callers/tiers.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { plainTextOrNull } from '../../../kit/fields.ts';
import { mailAddress } from '../../../people/addresses.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { changeAccount } from '../../../upkeep/operator-acts.ts';
import { act, replay } from '../act.ts';
import { accountIdField, accountSchema, accountView, tierField } from '../schemas.ts';

export const accountsUpdate = defineCapability()({
  method: 'PATCH',
  path: '/v1/operator/accounts/update',
  summary: 'Changes name, address or tier of an account, suspends it, or lets its calls through again.',
  description:
    'For the operator of the service only. What is absent stays. An address counts as verified: the operator vouches for it, and whoever ' +
    'signs in by it owns an account that nobody owns. When the answer to a suspension is there, every call of the account is refused. A ' +
    'lesser tier ends a subscription. The account is told of what changes.',
  keywords: ['suspend account', 'block tenant', 'change tier of a customer'],
  input: Type.Object({
    account_id: accountIdField,
    name: Type.Optional(
      plainTextOrNull(128, 'Name for people, at most 128 characters, without control characters. Null: none.'),
    ),
    email: Type.Optional(
      Type.String({
        format: 'email',
        minLength: 3,
        maxLength: 254,
        description: 'E-mail address to bind.',
      }),
    ),
    tier: Type.Optional(tierField),
    suspended: Type.Optional(Type.Boolean({ description: 'Whether its calls are refused.' })),
  }),
  output: accountSchema,
  replay,
  errors: ['NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'Another tier and another name',
      before: [{ capability: 'account.get', input: {} }],
      input: { account_id: '$0.account_id', tier: 'pro', name: 'north-west' },
      expect: { tier: 'pro', name: 'north-west', suspended: false },
    },
  ],
  async run({ ctx, input: { account_id: accountId, name, email, tier, suspended } }) {
    if (email !== undefined && mailAddress(email) === null)
      throw invalidField('email', 'format', 'email must be an address such as ada@example.com.');
    if (suspended === true && accountId === ctx.accountId)
      throw problem('STATE_CONFLICT', {
        message: 'This is the account of the operator, who would be locked out: qm accounts update can do it.',
        param: 'suspended',
      });
    const changes = { name, email, tier: tier as Tier | undefined, suspended };
    const answer = await act(ctx, accountId, async (tx) => {
      const account = await changeAccount(tx, accountId, changes);
      return account === null ? null : accountView(account);
    });
    if (suspended !== undefined) await ctx.core.processes.keyDropInForce({ hereToo: true });
    return answer;
  },
});
