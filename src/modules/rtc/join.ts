// Joining a room: a LiveKit token or, without a LiveKit server, a realtime presence channel through which browsers connect to one another.
import type { CallContext } from '../../kit/services.ts';
import { iso } from '../../lib/time.ts';
import { iceServersFor, NO_TURN } from './ice-servers.ts';
import { TTL_SECONDS } from './limits.ts';
import type { RtcState } from './state.ts';

export interface JoinInput {
  readonly room: string;
  readonly identity: string;
  readonly name?: string;
  readonly can_publish?: boolean;
  readonly can_subscribe?: boolean;
  readonly expires_seconds?: number;
  readonly socket_id?: string;
}

const NOT_HELD = 'In mode peer nothing but the pages themselves holds can_publish and can_subscribe.';

/** JoinSchema as JSON text. Throws what realtime.authorize throws. */
export async function join(ctx: CallContext, state: RtcState, input: JoinInput): Promise<string> {
  const { room, identity, expires_seconds: expiresSeconds = TTL_SECONDS.usual } = input;
  const expiresMs = Date.now() + expiresSeconds * 1_000;
  const shown = {
    identity,
    expires_at: iso(expiresMs),
    ice_servers: iceServersFor(state.settings.turn, `${ctx.accountId}.${identity}`, expiresMs),
  };
  if (state.livekit === null) return JSON.stringify({ ...shown, ...(await byPeers(ctx, state, input)) });
  const { url, tokenFor } = state.livekit;
  const canPublish = input.can_publish ?? true;
  const canSubscribe = input.can_subscribe ?? true;
  const joined = {
    room: `${ctx.accountId}.${room}`,
    identity,
    name: input.name,
    canPublish,
    canSubscribe,
    expiresSeconds,
  };
  const made = { mode: 'livekit', token: await tokenFor(joined), url, room: joined.room };
  return JSON.stringify({ ...made, channel: null, app_key: null, channel_data: null, ...shown });
}

interface Authorized {
  readonly auth: string;
  readonly channel_data: string | null;
}

/** Any connection: of its signature only the key in front is told. */
const SOME_SOCKET = '1.1';

async function byPeers(ctx: CallContext, { settings }: RtcState, input: JoinInput) {
  const { room, identity, name, socket_id: socketId } = input;
  const channel = `presence-rtc-${room}`;
  const { data } = await ctx.invoke('realtime.authorize', {
    channel,
    socket_id: socketId ?? SOME_SOCKET,
    user_id: identity,
    ...(name === undefined ? {} : { user_info: { name } }),
  });
  const { auth, channel_data } = data as Authorized;
  if (settings.turn.urls.length === 0) ctx.warnings.push(NO_TURN);
  if (input.can_publish === false || input.can_subscribe === false) ctx.warnings.push(NOT_HELD);
  const isSigned = socketId !== undefined;
  return {
    mode: 'peer',
    token: isSigned ? auth : null,
    channel_data: isSigned ? channel_data : null,
    url: `${ctx.core.baseUrl.replace(/^http/, 'ws')}/v1/realtime/pusher`,
    room,
    channel,
    app_key: auth.slice(0, auth.indexOf(':')),
  };
}
