// Events of identity and the life of accounts that nothing tells yet.
import { type EventKind, eventKind, instant, text, textOrNull, texts } from '../event-kind.ts';

const account = {
  account_id: text('Id of the account.', 'acct_email_0vTq3mXkfR7bYc1LpZs8Ne'),
  name: textOrNull('Name for people.', 'north-west'),
  tier: text('Tier.', 'pro'),
};
export const plannedMoneyEvents: readonly EventKind[] = [
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
