import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { memberSources } from '../../../lib/json-source.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { CHANNELS_MAX, PUBLISH, PUBLISH_BODY_BYTES_MAX } from '../limits.ts';
import type { NewEvent } from '../publish/message.ts';
import { publishEvents } from '../publish/publish.ts';
import { channelField, eventField, socketField, userField } from '../schemas.ts';
import type { RealtimeState } from '../state.ts';

interface Sent {
  readonly channel?: string;
  readonly channels?: readonly string[];
  readonly event: string;
  readonly socket_id?: string;
  readonly user_id?: string;
}

export const publish = defineCapability<RealtimeState>()({
  method: 'POST',
  path: '/v1/realtime/publish',
  summary: 'Publishes an event to channels.',
  description:
    'Delivers an event to all who are subscribed to the channels, by WebSockets or Server-Sent Events, and keeps it for whoever lost the ' +
    'connection: two minutes, or as long as realtime.settings.set says. It is stored before this answers. All subscribers of an account see one ' +
    'order. Charged for each channel, whoever listens.',
  keywords: ['pusher trigger', 'push to browsers', 'send event to channel', 'broadcast to subscribers', 'live update'],
  input: Type.Object({
    channel: Type.Optional(channelField),
    channels: Type.Optional(
      Type.Array(channelField, {
        minItems: 1,
        maxItems: CHANNELS_MAX,
        uniqueItems: true,
        description: `In place of channel: 1 to ${CHANNELS_MAX} of them.`,
      }),
    ),
    event: eventField,
    data: Type.Unknown({
      description: 'Any JSON, up to 10 KiB unless the operator allows more. It arrives byte for byte.',
    }),
    socket_id: Type.Optional(socketField),
    user_id: Type.Optional(userField('Who sends it, as subscribers are to see it.')),
  }),
  output: Type.Object({
    items: Type.Array(
      Type.Object({
        channel: Type.String({ description: 'Name of the channel.' }),
        message_id: Type.String({ description: 'Id of the message in that channel.' }),
      }),
      { description: 'One for each channel, in the order sent.' },
    ),
  }),
  price: PUBLISH,
  bodyBytesMax: PUBLISH_BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (input: Sent & { data?: unknown }, { text }) => ({ value: eventOf(input, text), transfer: [] }),
  },
  opaque: ['data'],
  errors: ['PAYLOAD_TOO_LARGE'],
  events: ['wallet.low_balance'],
  limits: { data: '10 KiB, or what the operator allows, up to 256 KiB.', channels: `${CHANNELS_MAX} a call.` },
  examples: [
    { title: 'A new order', input: { channel: 'orders', event: 'created', data: { id: 17 } } },
    { title: 'To two channels', input: { channels: ['orders', 'private-ops'], event: 'paid', data: { id: 17 } } },
  ],
  run({ ctx, input, state }) {
    return publishEvents(ctx, state, [input as unknown as NewEvent], () => 'data');
  },
});

/** Throws INVALID_REQUEST, VALIDATION_FAILED. */
function eventOf({ channel, channels, event, socket_id: socketId, user_id: userId }: Sent, text: string): NewEvent {
  if (channel !== undefined && channels !== undefined)
    throw problem('INVALID_REQUEST', { param: 'channels', message: 'Send channel or channels, not both.' });
  const named = channels ?? (channel === undefined ? [] : [channel]);
  if (named.length === 0) throw invalidField('channel', 'required', 'channel or channels is required.');
  const source = memberSources(text).get('data');
  if (source === undefined) throw invalidField('data', 'required', 'data is required.');
  const data = text.slice(source.start, source.end);
  return { channels: named, event, data, socketId: socketId ?? null, userId: userId ?? null };
}
