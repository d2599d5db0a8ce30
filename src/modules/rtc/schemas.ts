// Fields and records of the rtc operations.
import Type from 'typebox';
import { expiresField, instant, textOrNull } from '../../kit/fields.ts';
import { TTL_SECONDS } from './limits.ts';

export const roomField = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9_.-]+$',
  description: 'Name of the room. It exists while somebody is in it; other accounts may use the same name.',
});
export const identityField = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9_.@-]+$',
  description:
    'Who joins, as your service knows them. Once in a room: a second join of an identity ends the first at LiveKit.',
});
export const expiresSecondsField = expiresField(
  TTL_SECONDS,
  'How long token and TURN credentials let somebody in; who is in stays. Six hours when not sent.',
);

const iceServer = Type.Object({
  urls: Type.Array(Type.String({ description: 'Address.' }), { description: 'Addresses of STUN or TURN.' }),
  username: Type.Optional(Type.String({ description: 'Of TURN: when the credential ends, and whose it is.' })),
  credential: Type.Optional(Type.String({ description: 'Of TURN.' })),
});
export const iceServersField = Type.Array(iceServer, {
  description: 'For RTCPeerConnection, as they are; may be empty.',
});
export const expiresAtField = instant('When token and TURN credentials end.');

export const joinSchema = Type.Object({
  mode: Type.Enum(['livekit', 'peer'], { description: 'livekit: by a media server; peer: from browser to browser.' }),
  token: textOrNull(
    'livekit: the access token of the room. peer: the signature for subscribing to the channel, when socket_id was sent; else null.',
  ),
  url: Type.String({ description: 'WebSocket address of the LiveKit server, or of the channel.' }),
  room: Type.String({ description: 'The room: at LiveKit with the account in front.' }),
  identity: Type.String({ description: 'As sent.' }),
  channel: textOrNull('peer: the presence channel whose members signal by client events; null at LiveKit.'),
  app_key: textOrNull('peer: the key with which a client of Pusher connects; null at LiveKit.'),
  channel_data: textOrNull('peer: what was signed with token; null without socket_id.'),
  ice_servers: iceServersField,
  expires_at: expiresAtField,
});
