// Webhook events of channels and their members.
import { type EventKind, type EventWords, eventKind, inWords, member, withoutCall } from '../../../kit/event-kind.ts';

const channel = { channel: member.text('Name of the channel.', 'presence-room-1') };
const user = { ...channel, user_id: member.text('Who it is.', 'ana') };

const words: Readonly<Record<string, EventWords>> = {
  'realtime.channel.occupied': {
    one: (of) => `Channel ${of.channel}: first subscriber`,
    many: (of, count) => `Channel ${of.channel}: first subscriber, ${count} times`,
  },
  'realtime.channel.vacated': {
    one: (of) => `Channel ${of.channel}: last subscriber left`,
    many: (of, count) => `Channel ${of.channel}: last subscriber left, ${count} times`,
  },
  'realtime.member.added': { one: (of) => `Channel ${of.channel}: ${of.user_id} joined` },
  'realtime.member.removed': { one: (of) => `Channel ${of.channel}: ${of.user_id} left` },
};

export const realtimeEvents: readonly EventKind[] = withoutCall(
  {
    'realtime.channel.occupied': 'Somebody subscribed by a WebSocket.',
    'realtime.channel.vacated': 'The last subscriber has been away for three seconds.',
    'realtime.member.added': 'A user subscribed to a presence channel by a WebSocket.',
    'realtime.member.removed': 'A user has been away from a presence channel for three seconds.',
  },
  inWords(words, [
    eventKind('realtime.channel.occupied', 'A channel got its first subscriber.', channel),
    eventKind('realtime.channel.vacated', 'A channel lost its last subscriber.', channel),
    eventKind('realtime.member.added', 'A member joined a presence channel.', user),
    eventKind('realtime.member.removed', 'A member left a presence channel.', user),
  ]),
);
