// Webhook events of subscriptions and tiers; the core emits one with each change of state.
import Type from 'typebox';
import { type EventKind, eventKind, member, membersOf, withoutCall } from '../../../../kit/event-kind.ts';
import { accountMembers, previousTier } from '../../events.ts';
import { subscriptionFields } from './schemas.ts';

const running = {
  subscription_id: 'bsub_0vTq3mXkfR7bYc1LpZs8Ne',
  status: 'active',
  tier: 'pro',
  label: 'pro',
  price_usd: 20,
  current_period_start: '2026-11-01T12:00:00.000Z',
  current_period_end: '2026-12-01T12:00:00.000Z',
  cancel_at_period_end: false,
  last_invoice: {
    status: 'paid',
    amount_usd: 20,
    at: '2026-11-01T12:00:00.000Z',
    next_attempt_at: null,
    refunded_usd: 0,
    dispute: null,
  },
  test_mode: false,
};

const members = (now: Readonly<Record<string, unknown>> = {}) =>
  membersOf(Type.Object(subscriptionFields), { ...running, ...now });

export const subscriptionEvents: readonly EventKind[] = withoutCall(
  {
    'subscription.activated': 'The provider shows the first month as paid.',
    'subscription.renewed': 'The provider shows another month as paid.',
    'subscription.cancelled':
      'Its period ended after a cancellation, a renewal stayed unpaid for 7 days, or the operator gave the account a lesser tier.',
    'tier.upgraded': 'A subscription was paid, or the operator raised the tier.',
    'tier.downgraded': 'A subscription ended, or the operator lowered the tier.',
  },
  [
    eventKind('subscription.activated', 'A subscription became active; the account has its tier.', members()),
    eventKind('subscription.renewed', 'Another month of a subscription was paid.', members()),
    eventKind('subscription.cancelled', 'A subscription ended, and its tier with it.', {
      ...members({ status: 'cancelled' }),
      reason: member.word(
        'Why: `requested` by the account, `payment_failed`, or by the `operator`.',
        'requested',
        'payment_failed',
        'operator',
      ),
    }),
    eventKind('tier.upgraded', 'The tier of the account was raised.', accountMembers, { previous: previousTier }),
    eventKind(
      'tier.downgraded',
      'The tier of the account was lowered. Nothing is deleted: what exceeds a limit cannot grow.',
      accountMembers,
      { previous: previousTier },
    ),
  ],
);
