// Webhook events of auto-recharge; the core emits one for each charge that is decided.
import Type from 'typebox';
import { type EventKind, eventKind, member, membersOf, withoutCall } from '../../../../kit/event-kind.ts';
import { attemptFields } from './schemas.ts';

const charged = {
  attempt_id: 'arch_0vTq3mXkfR7bYc1LpZs8Ne',
  status: 'succeeded',
  amount_usd: 25,
  failure_code: null,
  grant_id: 'grant_0vTq3mXkfR7bYc1LpZs8Ne',
  refunded_usd: 0,
  dispute: null,
  test_mode: false,
  at: '2026-11-01T12:00:00.000Z',
};
const method = { payment_method_id: member.text('What was charged.', 'pm_0vTq3mXkfR7bYc1LpZs8Ne') };
const record = Type.Object(attemptFields);

export const autorechargeEvents: readonly EventKind[] = withoutCall(
  {
    'autorecharge.charged': 'Less than the trigger was left, and the provider charged the payment method.',
    'autorecharge.failed': 'The provider did not charge the payment method.',
  },
  [
    eventKind('autorecharge.charged', 'The wallet was recharged automatically.', {
      ...membersOf(record, charged),
      ...method,
    }),
    eventKind('autorecharge.failed', 'An automatic recharge failed.', {
      ...membersOf(record, { ...charged, status: 'failed', failure_code: 'card_declined', grant_id: null }),
      ...method,
      will_retry_at: member.instantOrNull('When it is tried again; null when it is not.', '2026-11-01T13:00:00.000Z'),
      disabled_reason: member.textOrNull('Why it is disabled now; null when it is not.', null),
    }),
  ],
);
