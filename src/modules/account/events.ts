// Webhook events of the account and its wallet; the core emits them (core/accounts, core/wallet).
import Type from 'typebox';
import { tierLimits } from '../../core/callers/tiers.ts';
import {
  type EventKind,
  eventKind,
  type Member,
  member,
  optional,
  otherwise,
  withoutCall,
} from '../../kit/event-kind.ts';

const tier: Member = { schema: Type.Enum(Object.keys(tierLimits), { description: 'Tier.' }), example: 'pro' };

export const accountMembers = {
  account_id: member.text('Id of the account.', 'acct_anon_0vTq3mXkfR7bYc1LpZs8Ne'),
  project_id: member.text('Its project.', 'proj_0vTq3mXkfR7bYc1LpZs8Ne'),
  name: member.textOrNull('Name for people.', 'north-west'),
  tier,
  email_bound: member.flag('Whether an e-mail address is bound.', false),
  suspended: member.flag('Whether its calls are refused.', false),
  created_at: member.instant('When it was created.', '2026-10-01T09:00:00.000Z'),
  updated_at: member.instant('When it last changed.'),
};

const grantMembers = {
  grant_id: member.text('Id of the grant.', 'grant_0vTq3mXkfR7bYc1LpZs8Ne'),
  kind: member.word('Kind of the credit.', 'promo', 'paid'),
  currency: member.word('Always USD.', 'USD'),
  amount_usd: member.number('What is left of it, or was when it expired, USD.', 1.25),
  expires_at: member.instantOrNull('When it expires, or did.', '2026-11-08T12:00:00.000Z'),
};

const kycStatus = member.word('How far it is.', 'verified', 'none', 'required', 'pending', 'rejected');

const previous: Member = {
  schema: Type.Object(
    {
      tier: Type.Optional(tier.schema),
      name: Type.Optional(accountMembers.name.schema),
      email_bound: Type.Optional(accountMembers.email_bound.schema),
      suspended: Type.Optional(accountMembers.suspended.schema),
    },
    { description: 'What changed, as it was before.' },
  ),
  example: { tier: 'standard' },
};

export const previousTier: Member = {
  schema: Type.Object({ tier: tier.schema }, { description: 'What changed, as it was before.' }),
  example: { tier: 'standard' },
};

/** Two things are told under one name; `reason` says which, and `object` is of its kind. */
const lowBalance = {
  currency: optional(member.word('low_balance: always USD.', 'USD')),
  balance_usd: optional(member.number('low_balance: what can be spent, USD.', 0.97)),
  threshold_usd: optional(member.number('low_balance: the larger of 1 USD and a tenth of the last credit.', 1)),
  period: otherwise(member.word('budget_alert: period of the budget.', 'daily', 'monthly')),
  used_usd: otherwise(member.number('budget_alert: spent in the window, USD.', 3)),
  held_usd: otherwise(member.number('budget_alert: held in the window, USD.', 0)),
  alert_threshold_usd: otherwise(member.number('budget_alert: the threshold that was crossed, USD.', 3)),
  window_start: otherwise(member.instant('budget_alert: start of the window.')),
  window_end: otherwise(member.instant('budget_alert: end of the window.')),
  as_of: member.instant('When it was so.'),
};

export const accountEvents: readonly EventKind[] = withoutCall(
  {
    'account.created': 'An account was made, at the first start or by `qm accounts create`.',
    'account.absorbed': 'A person linked an identity that had an empty account of its own.',
    'account.updated':
      'The tier was changed by a subscription, or name, tier or address by the operator; a deleted account was restored; a call that a rule meets waits for approval.',
    'kyc.status_changed': 'The operator said how far the owner is verified.',
    'wallet.low_balance':
      'Credit that expired or was taken back, or a scheduled run that was charged, took the balance below the threshold.',
    'wallet.expiring_soon': 'Credit expires in 7 days, and again in 1 day.',
    'wallet.expired': 'Credit expired.',
  },
  [
    eventKind('account.created', 'An account was created.', accountMembers),
    eventKind('account.deleted', 'The account was deleted; its webhooks are told what happens for one more day.', {
      ...accountMembers,
      purge_at: member.instant(
        'Until when it can be restored; then everything is removed.',
        '2026-11-08T12:00:00.000Z',
      ),
    }),
    eventKind('account.absorbed', 'Another account of the same person, an empty one, went over into this one.', {
      ...accountMembers,
      credit_usd: member.number('Credit that came with it, USD.', 1.5),
      key_ids: member.texts('Keys that came with it; they keep scopes and secrets.', 'key_0vTq3mXkfR7bYc1LpZs8Ne'),
    }),
    eventKind(
      'account.updated',
      'An account changed: its name, its tier, or an e-mail address was bound. Or a call waits for approval, which `reason` says.',
      accountMembers,
      {
        previous: optional(previous),
        reason: otherwise(member.word('Absent: `previous` says what changed.', 'approval_requested')),
        approval_id: otherwise(member.text('approval_requested: id of the approval.', 'apr_0vTq3mXkfR7bYc1LpZs8Ne')),
        capability: otherwise(member.text('approval_requested: what is called.', 'queue.delete')),
      },
    ),
    eventKind(
      'kyc.status_changed',
      'The operator said how far the owner of the account is verified.',
      { ...accountMembers, kyc_status: kycStatus },
      {
        previous: {
          schema: Type.Object({ kyc_status: kycStatus.schema }, { description: 'As it was before.' }),
          example: { kyc_status: 'pending' },
        },
      },
    ),
    eventKind(
      'wallet.low_balance',
      'The spendable balance is low, or spending crossed the alert threshold of the budget.',
      lowBalance,
      {
        reason: member.word(
          '`low_balance`, or `budget_alert`: spending crossed alert_threshold_usd.',
          'low_balance',
          'budget_alert',
        ),
      },
    ),
    eventKind('wallet.expiring_soon', 'Promotional credit expires soon.', {
      ...grantMembers,
      days_left: member.whole('7, and again 1.', 7),
    }),
    eventKind('wallet.expired', 'Credit expired and left the balance.', {
      ...grantMembers,
      reason: member.word(
        '`test_credit_ended`: it was test money, and real payments were switched on.',
        'expired',
        'test_credit_ended',
      ),
    }),
  ],
);
