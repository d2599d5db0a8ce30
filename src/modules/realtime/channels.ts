// Channel names, and the kind of channel that a name implies (pusher.com/docs/channels/using_channels/channels).
import { CHANNEL_CHARACTERS_MAX } from './limits.ts';

/** As Pusher has it, for schemas. */
export const CHANNEL_PATTERN = `^[A-Za-z0-9_\\-=@,.;]{1,${CHANNEL_CHARACTERS_MAX}}$`;
const NAME = new RegExp(CHANNEL_PATTERN);
/** What a server sends to one user goes by a channel of this name, which nobody subscribes to. */
export const USER_CHANNEL = '#server-to-user-';

export type ChannelKind = 'public' | 'private' | 'encrypted' | 'presence';

export function isChannelName(name: string): boolean {
  return NAME.test(name);
}

export function channelKind(name: string): ChannelKind {
  if (name.startsWith('private-encrypted-')) return 'encrypted';
  if (name.startsWith('private-')) return 'private';
  return name.startsWith('presence-') ? 'presence' : 'public';
}
