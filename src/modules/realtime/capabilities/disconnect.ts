import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { terminateUser } from '../presence/terminate.ts';
import { userField } from '../schemas.ts';
import type { RealtimeState } from '../state.ts';

export const disconnect = defineCapability<RealtimeState>()({
  method: 'POST',
  path: '/v1/realtime/disconnect',
  summary: 'Closes the connections of a user.',
  description:
    'Closes every WebSocket that this user has signed in on, or is a member of a presence channel by, with code 4009: clients do not come ' +
    'again by themselves. It does not keep the user away: your server decides whom it signs for.',
  keywords: ['terminate user connections', 'kick a user', 'log out sockets'],
  input: Type.Object({ user_id: userField('Whose connections.') }),
  output: Type.Object({ user_id: Type.String({ description: 'Whose connections are closed.' }) }),
  examples: [{ title: 'Log a user out', input: { user_id: 'ana' }, expect: { user_id: 'ana' } }],
  async run({ ctx, input, state }) {
    const { user_id: userId } = input;
    const written = await runWrite(ctx, async (tx, { nowMs }) => {
      await terminateUser(tx, ctx.accountId, userId, nowMs);
      return { user_id: userId };
    });
    state.published(ctx.accountId);
    return written;
  },
});
