// Clients that register themselves (RFC 7591). Nothing is stored: the client id is the registration itself, sealed with the server's secret, so
// only this service can have written it. Whoever wants to can register: the consent page says so.
import { clockNow } from '../../../core/database-clock.ts';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import type { Services } from '../../../kit/services.ts';
import { MINUTE_MS } from '../../../lib/time.ts';
import { wideNetworkOf } from '../../../people/addresses.ts';
import { ask } from '../../../people/asked.ts';
import { readClientName } from '../../../people/devices/codes.ts';
import { mayBeRedirect } from './redirects.ts';

const PREFIX = 'qmc_';
const LABEL = 'oauth-client';
const REDIRECTS_MAX = 10;
/** Of all of them: they travel in the client id, which stands in addresses. */
const REDIRECT_CHARACTERS_MAX = 1_000;
const REGISTRATIONS = { times: 10, windowMs: MINUTE_MS };

export interface Registration {
  /** Null: the client told none. */
  readonly name: string | null;
  readonly redirectUris: readonly string[];
}

export interface Registered extends Registration {
  readonly clientId: string;
  readonly issuedAtMs: number;
}

/** A registration that is refused, in the words of RFC 7591 §3.2.2. */
export interface Refused {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';
  readonly description: string;
}

/** A number: the network has registered too often, and is heard again in so many milliseconds. */
export async function registerClient(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  metadata: unknown,
  remoteAddress: string,
): Promise<Registered | Refused | number> {
  const nowMs = await clockNow(db);
  const network = wideNetworkOf(remoteAddress);
  const waitMs = network === null ? 0 : await ask(db, `registration of ${network}`, REGISTRATIONS, nowMs);
  if (waitMs > 0) return waitMs;
  const registration = readRegistration(metadata);
  if ('error' in registration) return registration;
  const sealed = secrets.encrypt(LABEL, '', JSON.stringify([registration.name, ...registration.redirectUris]));
  return { ...registration, clientId: `${PREFIX}${sealed.toString('base64url')}`, issuedAtMs: nowMs };
}

function readRegistration(metadata: unknown): Registration | Refused {
  if (metadata === null || typeof metadata !== 'object' || Array.isArray(metadata))
    return wrong('The client metadata must be a JSON object.');
  const { redirect_uris, client_name, grant_types, response_types } = metadata as Record<string, unknown>;
  const isFault = (description: string) => ({ error: 'invalid_redirect_uri' as const, description });
  if (!Array.isArray(redirect_uris) || redirect_uris.length === 0 || redirect_uris.length > REDIRECTS_MAX)
    return isFault(`redirect_uris must be a list of 1 to ${REDIRECTS_MAX} addresses.`);
  const redirectUris = redirect_uris.filter((uri) => typeof uri === 'string' && mayBeRedirect(uri)) as string[];
  if (redirectUris.length < redirect_uris.length)
    return isFault('Each of redirect_uris must be an https address, one of this machine, or one of a program.');
  if (redirectUris.join('').length > REDIRECT_CHARACTERS_MAX)
    return isFault(`redirect_uris may have at most ${REDIRECT_CHARACTERS_MAX} characters together.`);
  const name = client_name === undefined ? null : readClientName(typeof client_name === 'string' ? client_name : null);
  if (client_name !== undefined && name === null)
    return wrong('client_name must be a text of 1 to 128 characters, on one line.');
  if (!mayBeAmong(grant_types, 'authorization_code'))
    return wrong('grant_types must be a list with authorization_code.');
  if (!mayBeAmong(response_types, 'code')) return wrong('response_types must be a list with code.');
  return { name, redirectUris };
}

function mayBeAmong(list: unknown, wanted: string): boolean {
  return list === undefined || (Array.isArray(list) && list.includes(wanted));
}

function wrong(description: string): Refused {
  return { error: 'invalid_client_metadata', description };
}

/** Whether an id is one of those that are given here. */
export function isRegistered(clientId: string): boolean {
  return clientId.startsWith(PREFIX);
}

/** Null: this service did not write it. */
export function openRegistration(secrets: Secrets, clientId: string): Registration | null {
  try {
    const text = secrets.decrypt(LABEL, '', Buffer.from(clientId.slice(PREFIX.length), 'base64url'));
    const [name, ...redirectUris] = JSON.parse(text) as [string | null, ...string[]];
    return { name, redirectUris };
  } catch {
    // Forged, cut, or sealed with another secret: all of it is "not registered here".
    return null;
  }
}
