// What provider.set makes of a row. Where the client secret goes, and for which client, changes only in a call that brings it.
import type { Secrets } from '../../../core/secrets/secrets.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField } from '../../../problems/problem.ts';
import { discoverServer } from '../../../vendors/oauth/discover.ts';
import type { ClientAuth } from '../connections/credential.ts';
import { problem } from '../problems.ts';
import { type ProviderRow, sealClientSecret } from './provider.ts';

export interface SentProvider {
  readonly provider: string;
  readonly issuer?: string;
  readonly authorization_url?: string;
  readonly token_url?: string;
  readonly client_id: string;
  readonly client_secret?: string;
  readonly scopes?: readonly string[];
  readonly auth?: ClientAuth;
}

/** Addresses of a server, checked. */
export type Addresses = Pick<ProviderRow, 'issuer' | 'authorization_url' | 'token_url' | 'names_itself'>;

/**
 * The addresses that the call names, or that its issuer does; null: it names the issuer that the provider has, and brings no secret, so they stay.
 * Throws VALIDATION_FAILED, WEBHOOK_URL_REJECTED, TARGET_FAILED.
 */
export async function addressesOf(
  { core: { outbound }, warnings }: Pick<CallContext, 'core' | 'warnings'>,
  sent: SentProvider,
  before: ProviderRow | null,
): Promise<Addresses | null> {
  const { issuer, authorization_url: authorizationUrl, token_url: tokenUrl } = sent;
  const check = async (url: string, param: string) => {
    const warning = await outbound.checkUrl(url, param, 'source');
    if (warning !== null) warnings.push(warning);
  };
  if (issuer === undefined) {
    if (authorizationUrl === undefined || tokenUrl === undefined)
      throw invalidField('issuer', 'required', 'Name the issuer, or both authorization_url and token_url.');
    await check(authorizationUrl, 'authorization_url');
    await check(tokenUrl, 'token_url');
    return { issuer: null, authorization_url: authorizationUrl, token_url: tokenUrl, names_itself: false };
  }
  if (authorizationUrl !== undefined || tokenUrl !== undefined)
    throw invalidField('issuer', 'one_of', 'Name the issuer, whose document has the addresses, or the addresses.');
  const mayMove = sent.client_secret !== undefined || sent.auth === 'none' || before?.auth === 'none';
  if (before !== null && isSameIssuer(before.issuer, issuer) && !mayMove) return null;
  await check(issuer, 'issuer');
  const found = await discoverServer(outbound, issuer);
  if (found === null)
    throw problem('TARGET_FAILED', {
      param: 'issuer',
      detail: 'discovery',
      message:
        'The issuer has no document that names it and both of its endpoints, neither of OpenID Connect nor of RFC 8414.',
    });
  await check(found.authorizationUrl, 'issuer');
  await check(found.tokenUrl, 'issuer');
  return {
    issuer: found.issuer,
    authorization_url: found.authorizationUrl,
    token_url: found.tokenUrl,
    names_itself: found.namesItself,
  };
}

/** Of two spellings of an origin, with a slash at its end and without. */
function isSameIssuer(known: string | null, sent: string): boolean {
  return known !== null && URL.parse(known)?.href === URL.parse(sent)?.href;
}

/** The row that the call leaves. `addresses`: null: as they are. Throws SECRET_NEEDED, VALIDATION_FAILED. */
export function providerRowOf(
  secrets: Secrets,
  accountId: string,
  sent: SentProvider,
  {
    addresses,
    before,
    nowMs,
  }: { readonly addresses: Addresses | null; readonly before: ProviderRow | null; readonly nowMs: number },
): ProviderRow {
  const { provider, client_id, client_secret: clientSecret, scopes = [] } = sent;
  const auth = sent.auth ?? before?.auth ?? (clientSecret === undefined ? 'none' : 'post');
  if (auth === 'none' && clientSecret !== undefined)
    throw invalidField('client_secret', 'not_allowed', 'A client with auth none has no secret.');
  const kept = addresses ?? (before as ProviderRow);
  const { issuer, authorization_url, token_url, names_itself } = kept;
  const row = { provider, issuer, authorization_url, token_url, names_itself, client_id, auth };
  return {
    ...row,
    client_secret: sealedSecret(secrets, accountId, row, clientSecret, before),
    scopes: JSON.stringify([...new Set(scopes)]),
    created_at: before?.created_at ?? nowMs,
    updated_at: nowMs,
  };
}

type Bound = Addresses & Pick<ProviderRow, 'provider' | 'client_id' | 'auth'>;

function sealedSecret(
  secrets: Secrets,
  accountId: string,
  row: Bound,
  clientSecret: string | undefined,
  before: ProviderRow | null,
): Buffer | null {
  if (row.auth === 'none') return null;
  if (clientSecret !== undefined) return sealClientSecret(secrets, accountId, row, clientSecret);
  const bound = ['issuer', 'authorization_url', 'token_url', 'client_id', 'auth'] as const;
  const changed = before === null ? 'client_secret' : bound.find((name) => row[name] !== before[name]);
  if (before !== null && changed === undefined) return before.client_secret;
  throw problem('SECRET_NEEDED', {
    param: 'client_secret',
    message:
      before === null
        ? 'A client with auth post or basic needs its secret.'
        : `${changed} changes where the client secret goes, which needs client_secret in the same call.`,
    ...(changed === undefined ? {} : { detail: changed }),
  });
}
