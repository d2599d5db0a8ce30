// Schemas shared by the realtime operations.
import Type from 'typebox';
import { instant, textOrNull } from '../../kit/fields.ts';
import { patternWithWords } from '../../lib/pattern-words.ts';
import { CHANNEL_PATTERN } from './channels.ts';
import { EVENT_CHARACTERS_MAX, USER_CHARACTERS_MAX } from './limits.ts';
import { MESSAGE_ID_PATTERN } from './publish/message.ts';

export const channelName = (description: string) => Type.String({ pattern: CHANNEL_PATTERN, description });
export const channelField = channelName(
  'Name of a channel: letters, digits and `_ - = @ , . ;`. One that begins with `private-` or `presence-` needs an authorization to be subscribed to.',
);
export const socketField = Type.String({
  pattern: '^[0-9]{1,20}\\.[0-9]{1,20}$',
  description: 'Id of a connection, as its client knows it.',
});
export const messageIdField = (description: string) => Type.String({ pattern: MESSAGE_ID_PATTERN, description });
export const userField = (description: string) =>
  Type.String({ minLength: 1, maxLength: USER_CHARACTERS_MAX, pattern: '^[^\\p{Cc}\\p{Cs}]*$', description });
export const eventField = Type.String({
  minLength: 1,
  maxLength: EVENT_CHARACTERS_MAX,
  // Those are what the service itself tells.
  pattern: patternWithWords(
    '^(?!pusher:|pusher_internal:)[^\\p{Cc}\\p{Cs}]*$',
    'must not begin with pusher: or pusher_internal:, nor have control characters',
  ),
  description: `Name of the event, up to ${EVENT_CHARACTERS_MAX} characters; not pusher:… or pusher_internal:….`,
});

export const messageSchema = Type.Object({
  message_id: Type.String({ description: 'Id of the message. Ids grow in the order in which messages are delivered.' }),
  channel: Type.String({ description: 'Name of the channel.' }),
  event: Type.String({ description: 'Name of the event.' }),
  data: Type.Unknown({ description: 'What was published, as it was sent.' }),
  user_id: textOrNull('Who sent it; null: a server that named nobody.'),
  published_at: instant('When it was published.'),
});

export const appSchema = Type.Object({
  app_id: Type.String({ description: 'Id of the app, a decimal number.' }),
  app_key: Type.String({ description: 'Public: pages connect with it.' }),
  app_secret: Type.String({ description: 'Secret: servers sign with it.' }),
  ws_url: Type.String({ description: 'Address for WebSockets, without /app/{app_key}.' }),
  host: Type.String({ description: 'Host, with its port where that is not the usual one, for clients of Pusher.' }),
});
