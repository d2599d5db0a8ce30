// The authorization code grant with PKCE (RFC 6749, RFC 7636), built on the device flow: a person approves a device that waits. Its device
// code is derived from the authorization code, the verifier, the client id and the redirect URI, so each must be the original. None of them
// is stored.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Principal } from '../../core/callers/principal.ts';
import type { Core } from '../../core/core.ts';
import type { Secrets } from '../../core/secrets/secrets.ts';
import { approveDevice, type Fault, type Wish } from './approve.ts';
import { deviceHash } from './codes.ts';
import { type DeviceServices, type Polled, redeemDevice, startDevice } from './devices.ts';

/** What a code is bound to. */
interface Bound {
  readonly clientId: string;
  readonly redirectUri: string;
  /** Base64url of the verifier's SHA-256. */
  readonly challenge: string;
}

export interface AuthorizationAsked extends Bound {
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly remoteAddress: string;
}

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
export const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** The code for the client; a fault: what is in the way; a number: the network has begun too often, for so many milliseconds more. */
export async function authorizeClient(
  core: Pick<Core, 'db' | 'knownScopes' | 'secrets'>,
  principal: Principal,
  asked: AuthorizationAsked,
  wish: Wish,
): Promise<{ readonly code: string } | Fault | number> {
  const code = randomBytes(32).toString('base64url');
  const deviceCode = deriveCode(core.secrets, code, asked);
  const started = await startDevice(core, { ...asked, deviceCode });
  if (typeof started === 'number') return started;
  const device = { device_hash: deviceHash(deviceCode) as Buffer, scopes: asked.scopes };
  return (await approveDevice(core, principal, device, wish)) ?? { code };
}

/** The key, once; anything else is `invalid_grant` or a refusal. */
export async function redeemCode(
  core: DeviceServices,
  code: string,
  verifier: string,
  bound: Omit<Bound, 'challenge'>,
): Promise<Polled> {
  if (!VERIFIER.test(verifier) || deviceHash(code) === null) return { kind: 'invalid_grant' };
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  return redeemDevice(core, deriveCode(core.secrets, code, { ...bound, challenge }));
}

function deriveCode(secrets: Secrets, code: string, { clientId, redirectUri, challenge }: Bound): string {
  const text = JSON.stringify([code, clientId, redirectUri, challenge]);
  return createHmac('sha256', secrets.derive('authorization-code', 32)).update(text).digest('base64url');
}
