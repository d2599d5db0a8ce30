import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { expiresField, instantOrNull, textOrNull } from '../../../kit/fields.ts';
import { iso } from '../../../lib/time.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { type App, requireApp } from '../app/app.ts';
import { signedBy } from '../app/credentials.ts';
import { channelKind } from '../channels.ts';
import { CHANNELS_MAX, TOKEN_SECONDS } from '../limits.ts';
import { channelField, socketField, userField } from '../schemas.ts';
import type { RealtimeState } from '../state.ts';
import { streamToken } from '../stream/token.ts';

const USER_INFO_CHARACTERS_MAX = 1_024;

export const authorize = defineCapability<RealtimeState>()({
  method: 'POST',
  path: '/v1/realtime/authorize',
  summary: 'Lets a browser into channels.',
  description:
    'With channel and socket_id: the signature with which a connection may subscribe to a private or presence channel; answer it to the ' +
    'client as it is. With channels: a token for GET /v1/realtime/stream, for a page without a server library. With socket_id and user_id ' +
    'alone: the signature with which a connection signs in as that user. Call it from your server, once you know who asks.',
  keywords: ['pusher auth endpoint', 'private channel auth', 'presence channel auth', 'stream token'],
  input: Type.Object({
    channel: Type.Optional(channelField),
    socket_id: Type.Optional(socketField),
    channels: Type.Optional(
      Type.Array(channelField, {
        minItems: 1,
        maxItems: CHANNELS_MAX,
        uniqueItems: true,
        description: 'Channels of a token.',
      }),
    ),
    expires_seconds: expiresField(TOKEN_SECONDS, 'How long a token can begin and hold streams; an hour when not sent.'),
    user_id: Type.Optional(userField('Who it is. Required for a presence channel.')),
    user_info: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'What members of a presence channel see of them, up to 1 KB.' },
      ),
    ),
  }),
  output: Type.Object({
    auth: textOrNull('Signature for the connection; null: a token was asked for.'),
    channel_data: textOrNull('What was signed with it, of a presence channel.'),
    user_data: textOrNull('What was signed with it, of a sign-in.'),
    token: textOrNull('For GET /v1/realtime/stream?token=…; it can only listen.'),
    expires_at: instantOrNull('When the token ends.'),
  }),
  isKeyless: true,
  unlimited: true,
  bodyBytesMax: 16 * 1024,
  answersSecret: 'callers',
  errors: ['QUOTA_EXCEEDED'],
  limits: { user_info: '1,024 characters of JSON.' },
  examples: [
    {
      title: 'Into a presence channel',
      input: { channel: 'presence-room-1', socket_id: '1234.5678', user_id: 'ana', user_info: { name: 'Ana' } },
    },
    { title: 'A token for a page', input: { channels: ['news'], expires_seconds: 600 } },
  ],
  async run({ ctx, input }) {
    const { channel, channels, socket_id: socketId, user_id: userId } = input;
    if (channels !== undefined && (channel !== undefined || socketId !== undefined))
      throw problem('INVALID_REQUEST', { param: 'channels', message: 'Send channels, or channel and socket_id.' });
    const user = userText(userId, input.user_info);
    if (channels === undefined && socketId === undefined)
      throw invalidField('socket_id', 'required', 'Send channel and socket_id, or channels.');
    if (channel === undefined && channels === undefined && userId === undefined)
      throw invalidField('channel', 'required', 'channel is required, or user_id for a sign-in.');
    const app = await requireApp(ctx);
    if (channels !== undefined) return { data: tokenFor(app, channels, input.expires_seconds ?? TOKEN_SECONDS.usual) };
    if (channel === undefined)
      return { data: signature(app, `${socketId}::user::`, { user_data: userJson(userId, input.user_info) }) };
    return { data: channelAuth(app, channel, socketId as string, user) };
  },
});

const NOTHING = { auth: null, channel_data: null, user_data: null, token: null, expires_at: null };

function signature({ appKey, appSecret }: App, what: string, signed: { channel_data?: string; user_data?: string }) {
  const text = signed.channel_data ?? signed.user_data ?? '';
  return { ...NOTHING, ...signed, auth: `${appKey}:${signedBy(appSecret, what + text)}` };
}

/** Throws INVALID_REQUEST, VALIDATION_FAILED. */
function channelAuth(app: App, channel: string, socketId: string, channelData: string | null) {
  const kind = channelKind(channel);
  if (kind === 'public')
    throw invalidField(
      'channel',
      'public',
      'A public channel needs no authorization: only private-… and presence-… do.',
    );
  if (kind !== 'presence') return signature(app, `${socketId}:${channel}`, {});
  if (channelData === null) throw invalidField('user_id', 'required', 'user_id is required for a presence channel.');
  return signature(app, `${socketId}:${channel}:`, { channel_data: channelData });
}

/** Of a presence channel: as server libraries write it. Throws VALIDATION_FAILED. */
function userText(userId: string | undefined, info: object | undefined): string | null {
  const text = info === undefined ? '' : JSON.stringify(info);
  if (text.length > USER_INFO_CHARACTERS_MAX)
    throw invalidField('user_info', 'too_large', `user_info takes ${USER_INFO_CHARACTERS_MAX} characters of JSON.`);
  if (userId === undefined) return null;
  return JSON.stringify({ user_id: userId, ...(info === undefined ? {} : { user_info: info }) });
}

function userJson(userId: string | undefined, info: object | undefined): string {
  return JSON.stringify({ id: userId, ...(info === undefined ? {} : { user_info: info }) });
}

function tokenFor({ appKey, appSecret }: App, channels: readonly string[], ttlSeconds: number) {
  const expiresMs = Date.now() + ttlSeconds * 1_000;
  return { ...NOTHING, token: streamToken({ appKey, channels, expiresMs }, appSecret), expires_at: iso(expiresMs) };
}
