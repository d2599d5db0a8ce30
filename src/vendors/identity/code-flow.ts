// The authorization code flow common to all providers (RFC 6749, RFC 7636, RFC 9207): request parameters, and the meaning of failures.
import * as openid from 'openid-client';
import { IdentityError, type IdentityProvider, type ProvenIdentity } from './port.ts';

export type Tokens = Awaited<ReturnType<typeof openid.authorizationCodeGrant>>;

export interface Flow {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  configuration(): Promise<openid.Configuration>;
  /** Whether an ID token proves who came back: it then carries our nonce. */
  readonly hasIdToken: boolean;
  whoIs(configuration: openid.Configuration, tokens: Tokens): Promise<ProvenIdentity>;
}

/** A provider that openid-client speaks to. */
export function codeFlow(flow: Flow): IdentityProvider {
  const { id, name, scopes, hasIdToken } = flow;
  return {
    id,
    name,
    begin: (redirectUri) =>
      withIdentityErrors(async () => {
        const checks = {
          state: openid.randomState(),
          nonce: openid.randomNonce(),
          codeVerifier: openid.randomPKCECodeVerifier(),
        };
        const url = openid.buildAuthorizationUrl(await flow.configuration(), {
          redirect_uri: redirectUri,
          state: checks.state,
          code_challenge: await openid.calculatePKCECodeChallenge(checks.codeVerifier),
          code_challenge_method: 'S256',
          ...(scopes.length > 0 && { scope: scopes.join(' ') }),
          ...(hasIdToken && { nonce: checks.nonce }),
        });
        return { url: url.href, checks };
      }),
    finish: (callback, { state, nonce, codeVerifier }) =>
      withIdentityErrors(async () => {
        const configuration = await flow.configuration();
        const tokens = await openid.authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          pkceCodeVerifier: codeVerifier,
          ...(hasIdToken && { expectedNonce: nonce, idTokenExpected: true }),
        });
        return flow.whoIs(configuration, tokens);
      }),
  };
}

/** What openid-client throws, as one error of three kinds. */
async function withIdentityErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = causes(error).find((cause) => cause instanceof IdentityError);
    if (known !== undefined) throw known;
    if (error instanceof openid.AuthorizationResponseError)
      throw new IdentityError('declined', `the provider answered ${error.error}`, error);
    const isLate = causes(error).some((cause) => cause instanceof Error && cause.name === 'TimeoutError');
    throw new IdentityError(isLate ? 'unreachable' : 'invalid', messageOf(error), error);
  }
}

/** What it says without what it holds: tokens stand among the causes. */
function messageOf(error: unknown): string {
  if (error instanceof openid.ResponseBodyError) return `the provider refused: ${error.error}`;
  return error instanceof Error ? error.message : 'what came back cannot be read';
}

function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let at = error; at instanceof Error && found.length < 10; at = at.cause) found.push(at);
  return found;
}

const SUBJECT_CHARACTERS_MAX = 255;
const ADDRESS_CHARACTERS_MAX = 254;
const NAME_CHARACTERS_MAX = 100;

/** A text, or a whole number as GitHub has it. Throws IdentityError for what can be no subject. */
export function subjectOf(value: unknown): string {
  const text = Number.isSafeInteger(value) ? String(value) : value;
  if (isPlain(text) && text.length <= SUBJECT_CHARACTERS_MAX) return text;
  throw new IdentityError('invalid', 'the provider names no subject');
}

/** Null unless it is one, and verified: only a true of JSON says so, no text. */
export function verifiedEmailOf(email: unknown, verified: unknown): string | null {
  if (verified !== true) return null;
  return isPlain(email) && /^[^\s@]+@[^\s@]+$/.test(email) && email.length <= ADDRESS_CHARACTERS_MAX ? email : null;
}

export function nameOf(value: unknown): string | null {
  return isPlain(value) ? [...value.trim()].slice(0, NAME_CHARACTERS_MAX).join('') || null : null;
}

function isPlain(value: unknown): value is string {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cs}]+$/u.test(value);
}
