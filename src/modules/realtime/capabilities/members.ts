import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { membersOf } from '../presence/read.ts';
import { channelName } from '../schemas.ts';
import type { RealtimeState } from '../state.ts';

export const members = defineCapability<RealtimeState>()({
  method: 'GET',
  path: '/v1/realtime/members/{channel}',
  summary: 'Lists the members of a presence channel.',
  description:
    'Users who have subscribed to the channel, by user id, page by page; each once, whatever the number of their connections. Who has left ' +
    'is a member for three seconds more. A channel that nobody has subscribed to has none.',
  keywords: ['presence members', 'who is in the room', 'online users'],
  input: Type.Object({ channel: channelName('Name of a presence channel.'), cursor: cursorField, limit: limitField }),
  output: pageOf(
    Type.Object({
      user_id: Type.String({ description: 'Who it is, as your server has signed it.' }),
      user_info: Type.Unknown({ description: 'What your server has signed of them.' }),
    }),
  ),
  errors: ['INVALID_CURSOR'],
  examples: [{ title: 'An empty room', input: { channel: 'presence-room-1' }, expect: { items: [], has_more: false } }],
  async run({ ctx, input }) {
    const { channel } = input;
    const shown = await listPage(ctx, input, {
      filters: [channel],
      read: (after, limit) => membersOf(ctx.core.db, ctx.accountId, channel, { after: after ?? '', limit }),
      positionOf: (row) => row.user_id,
    });
    const items = shown.items.map((row) => ({ user_id: row.user_id, user_info: JSON.parse(row.user_info) as unknown }));
    return { data: { ...shown, items } };
  },
});
