// Webhook events of top-ups; the core emits one with each change of state.
import Type from 'typebox';
import { type EventKind, eventKind, membersOf, withoutCall } from '../../../../kit/event-kind.ts';
import { topupFields } from './schemas.ts';

const begun = {
  topup_id: 'top_0vTq3mXkfR7bYc1LpZs8Ne',
  amount_usd: 10,
  currency: 'EUR',
  charge_amount: 9,
  fx_rate: 0.9,
  expires_at: '2026-11-02T11:57:00.000Z',
  credited_at: null,
  grant_id: null,
  failure_code: null,
  review_reason: null,
  refunded_usd: 0,
  dispute: null,
  test_mode: false,
  provider: 'stripe',
  created_at: '2026-11-01T11:57:00.000Z',
};

const kind = (type: string, summary: string, now: Readonly<Record<string, unknown>>) =>
  eventKind(type, summary, membersOf(Type.Object(topupFields), { ...begun, ...now }));

export const topupEvents: readonly EventKind[] = withoutCall(
  {
    'topup.succeeded': 'The provider shows the payment as paid, or the operator approved it.',
    'topup.failed':
      'The payment failed, nobody paid within a day, its page could not be made, or the operator rejected it.',
    'topup.review_started': 'The payment is to be examined before it is credited.',
  },
  [
    kind('topup.succeeded', 'A top-up was paid and credited to the wallet.', {
      status: 'succeeded',
      credited_at: '2026-11-01T12:00:00.000Z',
      grant_id: 'grant_0vTq3mXkfR7bYc1LpZs8Ne',
    }),
    kind('topup.failed', 'A top-up failed or expired; nothing was credited.', {
      status: 'expired',
      failure_code: 'expired',
    }),
    kind('topup.review_started', 'A top-up is under review before it is credited.', {
      status: 'review',
      review_reason: 'provider',
    }),
  ],
);
