// Where an issuer has its endpoints, as its own document says: of OpenID Connect Discovery, or of RFC 8414.
import * as openid from 'openid-client';
import type { OutboundClient } from '../http/port.ts';
import { guardedFetch, REQUEST_MS } from '../identity/guarded-fetch.ts';

export interface DiscoveredServer {
  readonly issuer: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  /** It names itself in each answer of the authorization endpoint (RFC 9207). */
  readonly namesItself: boolean;
}

/** Null: neither document is there, is its own, or names both endpoints. */
export async function discoverServer(
  outbound: Pick<OutboundClient, 'send'>,
  issuer: string,
): Promise<DiscoveredServer | null> {
  for (const algorithm of ['oidc', 'oauth2'] as const) {
    const found = await readDocument(outbound, issuer, algorithm);
    if (found !== null) return found;
  }
  return null;
}

async function readDocument(
  outbound: Pick<OutboundClient, 'send'>,
  issuer: string,
  algorithm: 'oidc' | 'oauth2',
): Promise<DiscoveredServer | null> {
  try {
    // Only the document is wanted: the client's id is not sent.
    const configuration = await openid.discovery(new URL(issuer), 'none', undefined, openid.None(), {
      algorithm,
      [openid.customFetch]: guardedFetch(outbound, []),
      timeout: REQUEST_MS / 1_000,
      // The guard of outbound calls decides about plain http.
      execute: [openid.allowInsecureRequests],
    });
    const server = configuration.serverMetadata();
    const { authorization_endpoint: authorizationUrl, token_endpoint: tokenUrl } = server;
    if (authorizationUrl === undefined || tokenUrl === undefined) return null;
    const namesItself = server.authorization_response_iss_parameter_supported === true;
    return { issuer: server.issuer, authorizationUrl, tokenUrl, namesItself };
  } catch {
    return null;
  }
}
