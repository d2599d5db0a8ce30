// The authorization request of a client (RFC 6749, section 4.1.1), always with PKCE by S256 (RFC 7636), and what its answer must show.
import * as openid from 'openid-client';

export interface AuthorizationRequest {
  readonly authorizationUrl: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly state: string;
}

/** What only the browser that was sent away may bring back. */
export interface AuthorizationChecks {
  readonly nonce: string;
  readonly codeVerifier: string;
}

const OPENID = 'openid';

/** Where a browser is to be sent. */
export async function authorizationRequest({
  authorizationUrl,
  clientId,
  scopes,
  redirectUri,
  state,
}: AuthorizationRequest): Promise<{ readonly url: string; readonly checks: AuthorizationChecks }> {
  const checks = { nonce: openid.randomNonce(), codeVerifier: openid.randomPKCECodeVerifier() };
  const url = new URL(authorizationUrl);
  url.hash = '';
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(checks.codeVerifier),
    code_challenge_method: 'S256',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(scopes.includes(OPENID) && { nonce: checks.nonce }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, checks };
}

/**
 * Whether an ID token that came with the tokens is of this request. It came from the token endpoint itself, so its signature proves no more
 * (OpenID Connect Core, section 3.1.3.7); it identifies nobody here.
 */
export function isOfRequest(idToken: string, { nonce }: AuthorizationChecks): boolean {
  try {
    const [, payload = ''] = idToken.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return claims.nonce === nonce;
  } catch {
    return false;
  }
}
