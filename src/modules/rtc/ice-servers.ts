// STUN and TURN servers for browsers that connect to one another. TURN credentials expire: the user name holds the expiry and is signed with a
// secret shared with the TURN server (draft-uberti-behave-turn-rest-00, `use-auth-secret` of coturn).
import { createHmac } from 'node:crypto';
import type { RtcSettings } from './settings.ts';

export interface IceServer {
  readonly urls: readonly string[];
  readonly username?: string;
  readonly credential?: string;
}

export const NO_TURN =
  'No TURN server is configured: people whose networks allow no direct connection (strict firewalls, symmetric NAT) cannot join.';

/** `user`: told to the TURN server, which counts by it. */
export function iceServersFor(
  { urls, stunUrls, secret }: RtcSettings['turn'],
  user: string,
  expiresMs: number,
): IceServer[] {
  const stun = stunUrls.length === 0 ? [] : [{ urls: stunUrls }];
  if (urls.length === 0) return stun;
  const username = `${Math.floor(expiresMs / 1_000)}:${user}`;
  return [...stun, { urls, username, credential: createHmac('sha1', secret).update(username).digest('base64') }];
}
