// An issuer that says whatever a test wants: what a provider that is broken, taken over or somebody else's may answer.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer } from './oidc.ts';

export interface Forgery {
  /** Over those of an honest ID token; undefined takes one away. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** `other`: by a key that the issuer does not publish; `none`: not at all. */
  readonly signed?: 'own' | 'other' | 'none';
  /** In place of the answer of the token endpoint. */
  readonly token?: { readonly status: number; readonly body: string };
  /** Over the metadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface Forger {
  readonly issuer: string;
  forgery: Forgery;
  /** Requests of the token endpoint. */
  readonly exchanges: URLSearchParams[];
  stop(): Promise<void>;
}

/** @param nonceOf what an honest token holds: the test reads it from the address that the browser was sent to */
export async function startForger(clientId: string, nonceOf: () => string): Promise<Forger> {
  const [own, other] = [rsa(), rsa()];
  const http = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const path = new URL(req.url ?? '/', forger.issuer).pathname;
    const { status, body } = answer(path, Buffer.concat(chunks).toString());
    res.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const forger: Forger = { issuer, forgery: {}, exchanges: [], stop: () => closeServer(http) };
  return forger;

  function answer(path: string, body: string): { readonly status: number; readonly body: string } {
    if (path === '/.well-known/openid-configuration') return ok({ ...metadata(issuer), ...forger.forgery.metadata });
    if (path === '/jwks') return ok({ keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'own', use: 'sig' }] });
    if (path !== '/token') return { status: 404, body: '{}' };
    forger.exchanges.push(new URLSearchParams(body));
    return forger.forgery.token ?? ok({ access_token: 'token', token_type: 'bearer', id_token: idToken() });
  }

  function idToken(): string {
    const { claims, header, signed = 'own' } = forger.forgery;
    const nowS = Math.floor(Date.now() / 1_000);
    const honest = { iss: issuer, sub: 'u-1', aud: clientId, iat: nowS, exp: nowS + 60, nonce: nonceOf() };
    const person = { email: 'ada@example.org', email_verified: true };
    const head = { alg: signed === 'none' ? 'none' : 'RS256', ...(signed === 'own' && { kid: 'own' }), ...header };
    const text = `${part(head)}.${part({ ...honest, ...person, ...claims })}`;
    if (signed === 'none') return `${text}.`;
    const key = signed === 'own' ? own.privateKey : other.privateKey;
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  }
}

function metadata(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'none', 'HS256'],
  };
}

function rsa(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

function ok(value: unknown): { readonly status: number; readonly body: string } {
  return { status: 200, body: JSON.stringify(value) };
}

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
