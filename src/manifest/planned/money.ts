// Events of identity and the life of accounts that nothing tells yet.
import { type EventKind, eventKind, instant, text, textOrNull } from '../event-kind.ts';

const account = {
  account_id: text('Id of the account.', 'acct_email_0vTq3mXkfR7bYc1LpZs8Ne'),
  name: textOrNull('Name for people.', 'north-west'),
  tier: text('Tier.', 'pro'),
};
export const plannedMoneyEvents: readonly EventKind[] = [
  eventKind('account.deleted', 'The account was deleted.', {
    ...account,
    purge_at: instant('When everything is removed.', '2026-11-08T12:00:00.000Z'),
  }),
];
