// Console texts for events of the account, its wallet and its payments.
import type { EventRecord, EventWords } from '../../kit/event-kind.ts';
import { dollars } from '../../lib/money.ts';

const toWallet = () => '/wallet';
const toAccount = () => '/account';
const usd = (amount: unknown) => dollars(Number(amount));
const isTest = ({ test_mode: isTest }: EventRecord) => (isTest === true ? ' (test money)' : '');
const day = (instant: unknown) => String(instant).slice(0, 10);

const wallet: Readonly<Record<string, EventWords>> = {
  'wallet.low_balance': {
    one: (of, { reason }) =>
      reason === 'budget_alert'
        ? `Budget alert: ${usd(of.used_usd)} spent, alert at ${usd(of.alert_threshold_usd)}`
        : `Balance low: ${usd(of.balance_usd)} left`,
    path: toWallet,
    tone: 'warning',
  },
  'wallet.expiring_soon': {
    one: (of) => `${usd(of.amount_usd)} of credit expires in ${of.days_left === 1 ? '1 day' : `${of.days_left} days`}`,
    path: toWallet,
    tone: 'warning',
  },
  'wallet.expired': {
    one: (of) =>
      `${usd(of.amount_usd)} of ${of.reason === 'test_credit_ended' ? 'test credit ended' : 'credit expired'}`,
    path: toWallet,
  },
  'topup.succeeded': { one: (of) => `Paid ${usd(of.amount_usd)} by card${isTest(of)}`, path: toWallet, tone: 'good' },
  'topup.failed': {
    one: (of) =>
      `Top-up of ${usd(of.amount_usd)} ${of.status === 'expired' ? 'expired unpaid' : `failed: ${of.failure_code}`}`,
    path: toWallet,
    tone: 'critical',
  },
  'topup.review_started': {
    one: (of) => `Top-up of ${usd(of.amount_usd)} is under review`,
    path: toWallet,
    tone: 'warning',
  },
  'autorecharge.charged': {
    one: (of) => `Auto-recharge: paid ${usd(of.amount_usd)} by card${isTest(of)}`,
    path: toWallet,
    tone: 'good',
  },
  'autorecharge.failed': {
    one: (of) => `Auto-recharge of ${usd(of.amount_usd)} failed: ${of.failure_code}`,
    path: toWallet,
    tone: 'critical',
  },
};

const account: Readonly<Record<string, EventWords>> = {
  'account.created': { one: () => 'Account created', path: toAccount },
  'account.deleted': { one: (of) => `Account deleted; it can be restored until ${day(of.purge_at)}`, tone: 'critical' },
  'account.absorbed': {
    one: (of) => `Another account merged into this one, with ${usd(of.credit_usd)} of credit`,
    path: toAccount,
  },
  'account.updated': {
    one: updateWords,
    path: (_, { approval_id: id }) => (id === undefined ? toAccount() : `/approvals/${id}`),
  },
  'account.device_linked': {
    one: (of) => `Device linked: ${of.client_name}`,
    // Events that are older than the name key_id have id.
    path: (of) => `/keys/${of.key_id ?? of.id}`,
  },
  'kyc.status_changed': { one: (of) => `Verification of the owner: ${of.kyc_status}`, path: toAccount },
  'tier.upgraded': { one: tierChanged, path: toAccount, tone: 'good' },
  'tier.downgraded': { one: tierChanged, path: toAccount, tone: 'warning' },
  'subscription.activated': {
    one: (of) => `Subscribed to ${of.label} for ${usd(of.price_usd)} a month`,
    path: toAccount,
    tone: 'good',
  },
  'subscription.renewed': {
    one: (of) => `Subscription to ${of.label} renewed until ${day(of.current_period_end)}`,
    path: toAccount,
  },
  'subscription.cancelled': { one: (of) => `Subscription to ${of.label} ended`, path: toAccount, tone: 'warning' },
};

export const accountWords = { ...wallet, ...account };

function tierChanged({ tier }: EventRecord, { previous }: EventRecord): string {
  return `Tier changed from ${(previous as EventRecord | undefined)?.tier} to ${tier}`;
}

function updateWords(of: EventRecord, beside: EventRecord): string {
  if (beside.reason === 'approval_requested') return `A call of ${beside.capability} waits for approval`;
  const before = (beside.previous ?? {}) as EventRecord;
  if ('tier' in before) return tierChanged(of, beside);
  if ('suspended' in before) return of.suspended === true ? 'Account suspended' : 'Suspension ended';
  if ('email_bound' in before) return 'Email address bound';
  return 'name' in before ? `Account renamed to ${of.name ?? 'no name'}` : 'Account changed';
}
