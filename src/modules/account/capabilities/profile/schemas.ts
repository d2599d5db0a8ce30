// Schema and record of the account as its owner sees it.
import Type from 'typebox';
import { type Account, accountRecord } from '../../../../core/accounts/accounts.ts';
import { maskedEmail } from '../../../../core/accounts/masked-email.ts';
import { tierLimits } from '../../../../core/callers/tiers.ts';
import { instant, instantOrNull, plainTextOrNull, textOrNull } from '../../../../kit/fields.ts';
import { roleField } from '../../../../kit/role-field.ts';
import { isoOrNull } from '../../../../lib/time.ts';

const kycStatuses = ['none', 'required', 'pending', 'verified', 'rejected'] as const;

export const accountSchema = Type.Object(
  {
    account_id: Type.String({ description: 'Id of the account.' }),
    project_id: Type.String({ description: 'Its project; an account has one.' }),
    name: textOrNull('Name for people.'),
    tier: Type.Enum(Object.keys(tierLimits), { description: 'Tier; account.tier has what it may do.' }),
    email: textOrNull('Address that is bound, masked; null: none is.'),
    email_bound: Type.Boolean({ description: 'Whether an address is bound.' }),
    kyc_status: Type.Enum([...kycStatuses], { description: 'How far the operator is with verifying its owner.' }),
    notifications: Type.Object(
      { email: Type.Boolean({ description: 'Whether mail is sent about spending and payments.' }) },
      { description: 'What its owner is told by mail.' },
    ),
    suspended: Type.Boolean({ description: 'Whether its calls are refused.' }),
    purge_at: instantOrNull('When everything is removed; null: nobody has asked for it.'),
    created_at: instant('When it was made.'),
    updated_at: instant('When it last changed.'),
  },
  { title: 'Account' },
);

/** Who may act for the account. */
export const peopleSchema = Type.Array(
  Type.Object({
    person_id: Type.String({ description: 'Id of the person.' }),
    role: roleField,
    name: textOrNull('Name of the person.'),
    email: textOrNull('Address of the person, masked.'),
  }),
  { description: 'Who may sign in and act for the account, at most 50.' },
);

export function profileRecord(account: Account) {
  return {
    ...accountRecord(account),
    email: account.email === null ? null : maskedEmail(account.email),
    kyc_status: account.kycStatus,
    notifications: { email: account.mails },
    purge_at: isoOrNull(account.purgeAtMs),
  };
}

export const nameChange = Type.Optional(
  plainTextOrNull(128, 'Name for people, at most 128 characters, without control characters. Null: none.'),
);
