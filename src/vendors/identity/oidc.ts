// OpenID Connect with any issuer: its metadata and keys are fetched from it, and every ID token's signature is verified.
import * as openid from 'openid-client';
import type { OutboundClient } from '../http/port.ts';
import { codeFlow, nameOf, subjectOf, type Tokens, verifiedEmailOf } from './code-flow.ts';
import { guardedFetch, REQUEST_MS } from './guarded-fetch.ts';
import { IdentityError, type IdentityProvider, type ProvenIdentity } from './port.ts';

/** Metadata is read again after so long. */
const CONFIGURATION_MS = 3_600_000;

export interface OidcClient {
  readonly id: string;
  readonly name: string;
  /** https, or http on this machine. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
}

/** Nothing is asked of the issuer before the first who signs in. */
export function oidcProvider(client: OidcClient, outbound: Pick<OutboundClient, 'send'>): IdentityProvider {
  const { id, name, scopes } = client;
  const configuration = cacheFor(() => discover(client, outbound), CONFIGURATION_MS);
  return codeFlow({ id, name, scopes, configuration, hasIdToken: true, whoIs });
}

async function discover({ issuer, clientId, clientSecret }: OidcClient, outbound: Pick<OutboundClient, 'send'>) {
  const server = new URL(issuer);
  const isPlainHttp = server.protocol === 'http:';
  const configuration = await openid.discovery(server, clientId, undefined, authentication(clientSecret), {
    [openid.customFetch]: guardedFetch(outbound, [server.origin]),
    timeout: REQUEST_MS / 1_000,
    execute: [openid.enableNonRepudiationChecks, ...(isPlainHttp ? [openid.allowInsecureRequests] : [])],
  });
  const { authorization_endpoint: sendTo } = configuration.serverMetadata();
  if (!/^https:/.test(sendTo ?? '') && !(isPlainHttp && sendTo?.startsWith(`${server.origin}/`)))
    throw new IdentityError('invalid', 'the issuer names no https address to sign in at');
  return configuration;
}

/** As the issuer wants it; one that does not say wants Basic (OpenID Connect Discovery, section 3). */
function authentication(secret: string | null): openid.ClientAuth {
  if (secret === null) return openid.None();
  const [post, basic] = [openid.ClientSecretPost(secret), openid.ClientSecretBasic(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    return (methods?.includes('client_secret_post') ? post : basic)(server, ...rest);
  };
}

/** Many issuers put the address into the ID token, the others tell it where the token leads to. */
async function whoIs(configuration: openid.Configuration, tokens: Tokens): Promise<ProvenIdentity> {
  const claims = tokens.claims();
  if (claims === undefined) throw new IdentityError('invalid', 'there is no ID token');
  const isElsewhere = claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
  const told = isElsewhere ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims;
  return {
    issuer: claims.iss,
    subject: subjectOf(claims.sub),
    verifiedEmail: verifiedEmailOf(told.email, told.email_verified),
    name: nameOf(told.name ?? told.preferred_username),
  };
}

/** What `make` made, for so long; what failed is made again by the next who asks. */
function cacheFor<T>(make: () => Promise<T>, keptMs: number): () => Promise<T> {
  let made: { readonly value: Promise<T>; readonly untilMs: number } | null = null;
  return () => {
    if (made !== null && performance.now() < made.untilMs) return made.value;
    const mine = { value: make(), untilMs: performance.now() + keptMs };
    made = mine;
    mine.value.catch(() => {
      if (made === mine) made = null;
    });
    return mine.value;
  };
}
