import Type from 'typebox';
import { chargeForAnswer } from '../../../core/wallet/charge/charge-answer.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { plainText } from '../../../kit/fields.ts';
import { join } from '../join.ts';
import { TOKEN } from '../limits.ts';
import { expiresSecondsField, identityField, joinSchema, roomField } from '../schemas.ts';
import type { RtcState } from '../state.ts';

const socketField = Type.String({
  pattern: '^[0-9]{1,20}\\.[0-9]{1,20}$',
  description: 'In mode peer: id of the connection that subscribes to the channel; token is then its signature.',
});

export const token = defineCapability<RtcState>()({
  method: 'POST',
  path: '/v1/rtc/token',
  summary: 'Lets somebody into a room for audio and video.',
  description:
    "With a LiveKit server: a token for its clients. Without one, mode peer: a presence channel of realtime whose members' browsers connect to one " +
    'another, up to six people; realtime.authorize {channel, socket_id, user_id} gives the signature for the channel, as does this call with ' +
    'socket_id. The key needs realtime.authorize too. Call it from your server, once you know who asks.',
  keywords: ['video call', 'webrtc token', 'livekit access token', 'audio room', 'voice chat', 'video conference'],
  input: Type.Object({
    room: roomField,
    identity: identityField,
    name: Type.Optional(plainText(128, 'What others see of them.')),
    can_publish: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether they may send audio, video and data.' }),
    ),
    can_subscribe: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether they may receive that of others.' }),
    ),
    expires_seconds: expiresSecondsField,
    socket_id: Type.Optional(socketField),
  }),
  output: joinSchema,
  price: TOKEN,
  answersSecret: 'callers',
  errors: ['QUOTA_EXCEEDED'],
  events: ['wallet.low_balance'],
  limits: { room: 'In mode peer up to six people, since each browser sends to every other one.' },
  examples: [
    { title: 'Ana joins', input: { room: 'stand-up', identity: 'ana', name: 'Ana' }, expect: { identity: 'ana' } },
    {
      title: 'The signature for her connection',
      input: { room: 'stand-up', identity: 'ana', socket_id: '1234.5678', expires_seconds: 3_600 },
      expect: { identity: 'ana' },
    },
  ],
  run: ({ ctx, input, state }) => chargeForAnswer(ctx, state.effect, 1n, () => join(ctx, state, input)),
});
