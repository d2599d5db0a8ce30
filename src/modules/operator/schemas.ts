// Fields and records that several capabilities of the module share.
import Type from 'typebox';
import { type Account, accountRecord } from '../../core/accounts/accounts.ts';
import { tierLimits } from '../../core/callers/tiers.ts';
import { instant, instantOrNull, textOrNull } from '../../kit/fields.ts';
import { isoOrNull } from '../../lib/time.ts';
import { topupEventRecord } from '../../payments/topups/record.ts';
import type { TopupRow } from '../../payments/topups/store.ts';
import { problem } from '../../problems/problem.ts';

export const accountIdField = Type.String({
  pattern: '^acct_[0-9A-Za-z_]{1,60}$',
  description: 'Id of the account that is meant, `acct_…`.',
});
export const topupIdField = Type.String({
  pattern: '^top_[0-9A-Za-z]{1,60}$',
  description: 'Id of the top-up, `top_…`, of whatever account.',
});
export const tierField = Type.Enum(Object.keys(tierLimits), { description: 'Tier of the account.' });
export const kycField = Type.Enum(['none', 'required', 'pending', 'verified', 'rejected'], {
  description: 'How far the operator is with verifying the owner; the service verifies nobody itself.',
});
export const usdField = (description: string) =>
  Type.Number({ description: `${description} USD, exact to 0.000000001.` });

export const accountFields = {
  account_id: Type.String({ description: 'Id of the account.' }),
  project_id: Type.String({ description: 'Its project.' }),
  name: textOrNull('Name for people.'),
  tier: tierField,
  email: textOrNull('Address that is bound, in full; null: none is.'),
  email_bound: Type.Boolean({ description: 'Whether an address is bound.' }),
  kyc_status: kycField,
  suspended: Type.Boolean({ description: 'Whether its calls are refused.' }),
  purge_at: instantOrNull('When everything is removed; null: nobody has asked for it.'),
  created_at: instant('When it was made.'),
  updated_at: instant('When it last changed.'),
};

export const accountSchema = Type.Object(accountFields, { title: 'OperatorAccount' });

export function accountView(account: Account) {
  const { email, kycStatus, purgeAtMs } = account;
  return { ...accountRecord(account), email, kyc_status: kycStatus, purge_at: isoOrNull(purgeAtMs) };
}

export const topupSchema = Type.Object(
  {
    account_id: Type.String({ description: 'Whose it is.' }),
    topup_id: Type.String({ description: 'Id of the top-up.' }),
    status: Type.Enum(['pending', 'review', 'succeeded', 'failed', 'expired'], { description: 'Where it stands.' }),
    amount_usd: usdField('What is credited.'),
    currency: Type.String({ description: 'What is charged.' }),
    charge_amount: Type.Number({ description: 'How much is charged, in major units.' }),
    fx_rate: Type.Number({ description: 'Units of the currency per USD when it was begun.' }),
    expires_at: instant('Until when its link can be used.'),
    credited_at: instantOrNull('When it was credited.'),
    grant_id: textOrNull('The credit in the wallet.'),
    failure_code: textOrNull('Why it failed.'),
    review_reason: textOrNull('`provider`, `mismatch` (another amount or currency was paid) or `amount`.'),
    refunded_usd: usdField('What of it went back.'),
    dispute: Type.Unsafe<object | null>({
      type: ['object', 'null'],
      description: 'The newest dispute, {status, amount_usd}; null: none.',
    }),
    test_mode: Type.Boolean({ description: 'Whether the money is test money.' }),
    provider: Type.String({ description: 'Who takes the money.' }),
    created_at: instant('When it was begun.'),
  },
  { title: 'OperatorTopup' },
);

export function topupView(row: TopupRow) {
  return { account_id: row.account_id, ...topupEventRecord(row) };
}

export function noAccount() {
  return problem('NOT_FOUND', { message: 'There is no such account.', param: 'account_id' });
}

export function noTopup() {
  return problem('NOT_FOUND', { message: 'There is no such top-up.', param: 'topup_id' });
}
