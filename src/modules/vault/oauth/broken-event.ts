// The event of a connection that broke.
import { type EventKind, type EventWords, eventKind, inWords, member, withoutCall } from '../../../kit/event-kind.ts';

export const connectionBroken = eventKind('vault.connection.broken', 'A connection cannot be used any more.', {
  connection: member.text('Name of the connection.', 'forge'),
  reason: member.text('Why it broke.', 'the provider refused to refresh it: invalid_grant'),
  at: member.instant('When it broke.'),
});

const words: Readonly<Record<string, EventWords>> = {
  'vault.connection.broken': {
    one: (of) => `Connection ${of.connection} is broken: ${of.reason}`,
    path: (of) => `/vault/connections/${of.connection}`,
    tone: 'critical',
  },
};

export const vaultEvents: readonly EventKind[] = withoutCall(
  { 'vault.connection.broken': 'Its provider refused to refresh its tokens.' },
  inWords(words, [connectionBroken]),
);
