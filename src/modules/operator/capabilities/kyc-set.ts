import Type from 'typebox';
import type { KycStatus } from '../../../core/accounts/accounts.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { changeAccount } from '../../../upkeep/operator-acts.ts';
import { act, replay } from '../act.ts';
import { accountIdField, accountSchema, accountView, kycField } from '../schemas.ts';

export const kycSet = defineCapability()({
  method: 'POST',
  path: '/v1/operator/kyc/set',
  summary: 'Says how far the owner of an account is verified.',
  description:
    'For the operator of the service only. Paying in is open with `none` and `verified`. A change is told as kyc.status_changed.',
  keywords: ['verify identity', 'kyc status', 'approve verification'],
  input: Type.Object({ account_id: accountIdField, kyc_status: kycField }),
  output: accountSchema,
  replay,
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'Verified',
      before: [{ capability: 'account.get', input: {} }],
      input: { account_id: '$0.account_id', kyc_status: 'verified' },
      expect: { kyc_status: 'verified' },
    },
  ],
  run: ({ ctx, input: { account_id: accountId, kyc_status } }) =>
    act(ctx, accountId, async (tx) => {
      const account = await changeAccount(tx, accountId, { kycStatus: kyc_status as KycStatus });
      return account === null ? null : accountView(account);
    }),
});
