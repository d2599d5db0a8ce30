// WebSocket routes of the Pusher protocol: at the root, where Pusher clients connect, and below /v1.

import type { RawSocket, SocketHead, SocketListener, SocketRoute } from '../../../kit/socket-route.ts';
import { Problem } from '../../../problems/problem.ts';
import { appKeyCredential } from '../app/credentials.ts';
import { enterConnection } from '../connections.ts';
import { LISTEN, MESSAGE_KIB_MAX } from '../limits.ts';
import type { RealtimeState } from '../state.ts';
import { codes, VERSIONS } from './close-codes.ts';
import { PusherConnection } from './connection.ts';
import { errorFrame } from './frames.ts';

export const socketRoutes: readonly SocketRoute<RealtimeState>[] = ['/app/{key}', '/v1/realtime/pusher/app/{key}'].map(
  (path) => ({
    name: 'realtime.pusher',
    path,
    capability: LISTEN,
    // Pages of any site, with the key of the app: private channels have signatures.
    anyOrigin: true,
    // A wrong key is told by a close code, which clients know, and not by an answer to the handshake, after which they come again.
    identifiesLater: true,
    // The longest data, with escapes.
    messageBytesMax: (2 * MESSAGE_KIB_MAX + 16) * 1024,
    closeCodes: {
      rights: codes.unauthorized,
      unidentified: codes.unauthorized,
      flood: codes.overCapacity,
      slow: codes.overCapacity,
      full: codes.overCapacity,
      stop: codes.reconnect,
      failed: codes.overCapacity,
    },
    open,
  }),
);

const NOTHING: SocketListener = { message: () => undefined };

async function open(socket: RawSocket, { params, query }: SocketHead, state: RealtimeState): Promise<SocketListener> {
  const version = query.get('protocol') ?? '7';
  if (!VERSIONS.includes(version)) return refuse(socket, codes.unsupportedVersion, 'The protocol must be 5, 6 or 7.');
  const appKey = params.key ?? '';
  let leavePlace: (() => void) | null = null;
  try {
    const principal = await socket.identify(appKeyCredential(appKey));
    leavePlace = await enterConnection(state.core, principal);
    const { accountId } = principal;
    state.hints.listen();
    const feed = await state.feeds.enter(accountId);
    const leave = () => {
      leavePlace?.();
      state.feeds.leave(accountId);
    };
    return new PusherConnection(socket, { state, appKey, feed, leave });
  } catch (error) {
    leavePlace?.();
    if (!(error instanceof Problem)) throw error;
    return refuse(socket, closeCodeOf(error.code), error.message);
  }
}

function refuse(socket: RawSocket, code: number, message: string): SocketListener {
  socket.send(errorFrame(code, message));
  socket.close(code, message.slice(0, 100));
  return NOTHING;
}

function closeCodeOf(code: string): number {
  switch (code) {
    case 'INVALID_API_KEY':
    case 'UNAUTHORIZED':
      return codes.unknownApp;
    case 'ACCOUNT_SUSPENDED':
    case 'INSUFFICIENT_SCOPE':
      return codes.disabledApp;
    case 'CONCURRENCY_LIMITED':
      return codes.overQuota;
    default:
      return codes.overCapacity;
  }
}
