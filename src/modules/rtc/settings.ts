// Operator settings of calls: a LiveKit server, and TURN servers.
import { ConfigError, type Variables } from '../../config/variables.ts';
import { TURN_URLS_MAX } from './limits.ts';

export interface LivekitSettings {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

export interface RtcSettings {
  /** Null: people meet by peer connections. */
  readonly livekit: LivekitSettings | null;
  readonly turn: { readonly urls: readonly string[]; readonly stunUrls: readonly string[]; readonly secret: string };
}

/** RFC 7064 and RFC 7065, without what they leave to resolvers. */
const ICE_URL = /^(?:stuns?:[\w.:[\]-]{1,260}|turns?:[\w.:[\]-]{1,260}(?:\?transport=(?:udp|tcp))?)$/;

export function rtcSettings(variables: Variables): RtcSettings {
  return { livekit: livekitOf(variables), turn: turnOf(variables) };
}

function livekitOf(variables: Variables): LivekitSettings | null {
  const url = variables.text('LIVEKIT_URL');
  const apiKey = variables.text('LIVEKIT_API_KEY');
  const apiSecret = variables.secret('LIVEKIT_API_SECRET', 32);
  if (url === undefined && apiKey === undefined && apiSecret === undefined) return null;
  if (url === undefined || apiKey === undefined || apiSecret === undefined)
    throw new ConfigError('LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET are set together');
  if (!/^wss?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new ConfigError(`LIVEKIT_URL must be a URL that begins with wss:// or ws://, not ${JSON.stringify(url)}`);
  return { url, apiKey, apiSecret };
}

function turnOf(variables: Variables): RtcSettings['turn'] {
  const all = (variables.text('TURN_URLS') ?? '').split(',').flatMap((url) => url.trim() || []);
  const secret = variables.secret('TURN_SECRET', 16) ?? '';
  const wrong = all.find((url) => !ICE_URL.test(url));
  if (wrong !== undefined)
    throw new ConfigError(`TURN_URLS must list turn:, turns: or stun: addresses, not ${JSON.stringify(wrong)}`);
  if (all.length > TURN_URLS_MAX) throw new ConfigError(`TURN_URLS must list at most ${TURN_URLS_MAX} addresses`);
  const urls = all.filter((url) => url.startsWith('turn'));
  if (urls.length > 0 && secret === '') throw new ConfigError('TURN_URLS needs TURN_SECRET');
  return { urls, stunUrls: all.filter((url) => url.startsWith('stun')), secret };
}
