// Socket properties of a channel, read from its name (Pusher Channels protocol 7).
import { channelKind, isChannelName, USER_CHANNEL } from '../channels.ts';
import { USER_CHARACTERS_MAX } from '../limits.ts';

export interface SocketChannel {
  /** A subscription needs a signature of the app's secret. */
  readonly isPrivate: boolean;
  readonly isPresence: boolean;
  /** What is published is ciphertext to the service: its members send nothing. */
  readonly isEncrypted: boolean;
  /** Whoever subscribes gets the last message. */
  readonly isCache: boolean;
  /** Only sockets that this user has signed in on subscribe to it; null: no user's. */
  readonly userId: string | null;
}

const CACHE = /^(?:private-encrypted-|private-|presence-)?cache-/;

/** Null: no channel has this name. */
export function socketChannel(name: string): SocketChannel | null {
  const userId = userOf(name);
  if (userId === null && !isChannelName(name)) return null;
  const kind = channelKind(name);
  return {
    isPrivate: kind !== 'public',
    isPresence: kind === 'presence',
    isEncrypted: kind === 'encrypted',
    isCache: CACHE.test(name),
    userId,
  };
}

/** Of a frame, as it is told back; undefined: none, or no channel has this name. */
export function channelOf({ channel }: { readonly channel: string | null }): string | undefined {
  return channel !== null && socketChannel(channel) !== null ? channel : undefined;
}

export function userChannel(userId: string): string {
  return `${USER_CHANNEL}${userId}`;
}

export function isUserChannel(name: string): boolean {
  return name.startsWith(USER_CHANNEL);
}

function userOf(name: string): string | null {
  if (!isUserChannel(name)) return null;
  const userId = name.slice(USER_CHANNEL.length);
  return isUserId(userId) ? userId : null;
}

export function isUserId(id: unknown): id is string {
  return (
    typeof id === 'string' && id !== '' && id.length <= USER_CHARACTERS_MAX && id.isWellFormed() && !id.includes('\0')
  );
}
