import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf, wholeOrNull } from '../../../kit/fields.ts';
import { CHANNEL_CHARACTERS_MAX } from '../limits.ts';
import { occupiedChannels } from '../presence/read.ts';
import type { RealtimeState } from '../state.ts';

export const channels = defineCapability<RealtimeState>()({
  method: 'GET',
  path: '/v1/realtime/channels',
  summary: 'Lists occupied channels.',
  description:
    'Channels that somebody has subscribed to by a WebSocket, by name, page by page. Counts may be three seconds old. Streams of ' +
    'Server-Sent Events do not count.',
  keywords: ['occupied channels', 'how many subscribers', 'who is online'],
  input: Type.Object({
    prefix: Type.Optional(
      Type.String({
        maxLength: CHANNEL_CHARACTERS_MAX,
        pattern: '^[A-Za-z0-9_\\-=@,.;]*$',
        description: 'Only channels whose names begin so.',
      }),
    ),
    cursor: cursorField,
    limit: limitField,
  }),
  output: pageOf(
    Type.Object({
      channel: Type.String({ description: 'Name of the channel.' }),
      occupied: Type.Boolean({ description: 'Whether anybody has subscribed to it.' }),
      subscription_count: Type.Integer({ description: 'Subscriptions by WebSockets.' }),
      user_count: wholeOrNull('Members of a presence channel; null: it is none.'),
    }),
  ),
  errors: ['INVALID_CURSOR'],
  examples: [{ title: 'Nobody yet', input: { prefix: 'presence-' }, expect: { items: [], has_more: false } }],
  async run({ ctx, input }) {
    const prefix = input.prefix ?? '';
    const shown = await listPage(ctx, input, {
      filters: [prefix],
      read: (after, limit) => occupiedChannels(ctx.core.db, ctx.accountId, { prefix, after: after ?? '', limit }),
      positionOf: ({ channel }) => channel,
    });
    const items = shown.items.map(({ channel, subscriptions, users }) => ({
      channel,
      occupied: true,
      subscription_count: subscriptions,
      user_count: users,
    }));
    return { data: { ...shown, items } };
  },
});
