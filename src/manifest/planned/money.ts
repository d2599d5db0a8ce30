// Events of recharges, subscriptions, identity and the life of accounts that nothing tells yet.
import { type EventKind, eventKind, instant, number, record, text, textOrNull, texts, word } from '../event-kind.ts';

const subscription = (status: string) => ({
  subscription_id: text('Id of the subscription.', 'bsub_0vTq3mXkfR7bYc1LpZs8Ne'),
  status: text('Where it stands.', status),
  tier: text('Tier that it buys.', 'pro'),
  price_usd: number('Price of a period, USD.', 20),
  current_period_start: instant('Start of the period.'),
  current_period_end: instant('End of the period.', '2026-12-01T12:00:00.000Z'),
});

const account = {
  account_id: text('Id of the account.', 'acct_email_0vTq3mXkfR7bYc1LpZs8Ne'),
  name: textOrNull('Name for people.', 'north-west'),
  tier: text('Tier.', 'pro'),
};
const before = (name: string, value: string) => ({
  previous: record('What changed, as it was before.', { [name]: text('Before.', value) }),
});

export const plannedMoneyEvents: readonly EventKind[] = [
  eventKind('subscription.activated', 'A subscription became active.', subscription('active')),
  eventKind('subscription.renewed', 'A subscription was renewed.', subscription('active')),
  eventKind('subscription.cancelled', 'A subscription was cancelled.', {
    ...subscription('cancelled'),
    reason: word('Why.', 'requested', 'payment_failed', 'operator'),
  }),
  eventKind('tier.upgraded', 'The tier of the account was raised.', account, before('tier', 'standard')),
  eventKind(
    'tier.downgraded',
    'The tier of the account was lowered.',
    { ...account, tier: text('Tier.', 'standard') },
    before('tier', 'pro'),
  ),
  eventKind('account.device_linked', 'A device was linked to the account.', {
    key_id: text('Key that the device got.', 'key_0vTq3mXkfR7bYc1LpZs8Ne'),
    client_name: text('How the device calls itself; not verified.', 'build-agent'),
    scopes: texts('What the key may do.', 'queue'),
  }),
  eventKind('account.deleted', 'The account was deleted.', {
    ...account,
    purge_at: instant('When everything is removed.', '2026-11-08T12:00:00.000Z'),
  }),
];
