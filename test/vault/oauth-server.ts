// An OAuth server of the outside world that rotates refresh tokens: one that was used is refused, and ends its whole family (RFC 9700, section
// 4.14.2). Whoever comes to its authorization endpoint agrees.
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const CLIENT = { id: 'client of the tests', secret: 'a secret +/%: of a client' } as const;

export interface Asked {
  readonly form: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

interface Family {
  /** The refresh token that is good; null: the family has ended. */
  refresh: string | null;
  access: string;
  refreshes: number;
}

export interface OAuthServer {
  readonly origin: string;
  readonly tokenUrl: string;
  readonly authorizationUrl: string;
  readonly asked: Asked[];
  /** How often a refresh was refused. */
  refused: number;
  /** How long access tokens live; null: it does not say. */
  expiresIn: number | null;
  rotates: boolean;
  /** Its documents of discovery; null: it has none. */
  documents: { readonly at: '/.well-known/openid-configuration' | '/.well-known/oauth-authorization-server' } | null;
  /** What it does in place of an answer of the token endpoint. */
  instead: ((response: ServerResponse) => void) | null;
  /** Awaited between the change of its tokens and its answer. */
  beforeAnswer: () => Promise<void>;
  /** A pair as a person has got it. */
  issue(): { readonly access: string; readonly refresh: string };
  family(access: string): Family | undefined;
  /** Whether the access token is good. */
  knows(access: string): boolean;
  stop(): Promise<void>;
}

interface Code {
  readonly challenge: string;
  readonly redirectUri: string;
}

const token = () => randomBytes(24).toString('base64url');

export async function startOAuthServer(host = '127.77.0.1'): Promise<OAuthServer> {
  const families = new Set<Family>();
  const spent = new Map<string, Family>();
  const codes = new Map<string, Code>();
  const clientTokens = new Set<string>();

  const issue = () => {
    const family: Family = { refresh: token(), access: token(), refreshes: 0 };
    families.add(family);
    return family;
  };
  const familyBy = (name: 'access' | 'refresh', value: string) => [...families].find((one) => one[name] === value);

  const http = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => http.listen(0, host, resolve));
  const origin = `http://${host}:${(http.address() as AddressInfo).port}`;
  const server: OAuthServer = {
    origin,
    tokenUrl: `${origin}/token`,
    authorizationUrl: `${origin}/authorize`,
    asked: [],
    refused: 0,
    expiresIn: 3_600,
    rotates: true,
    documents: null,
    instead: null,
    beforeAnswer: () => Promise.resolve(),
    issue() {
      const { access, refresh } = issue();
      return { access, refresh: refresh as string };
    },
    family: (access) => familyBy('access', access),
    knows: (access) => clientTokens.has(access) || familyBy('access', access)?.refresh != null,
    stop() {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(() => resolve()));
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin);
    if (url.pathname === server.documents?.at) return json(response, 200, metadata());
    if (url.pathname === '/authorize') return authorize(url.searchParams, response);
    if (url.pathname !== '/token') return json(response, 404, {});
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    server.asked.push({ form, authorization: request.headers.authorization });
    if (server.instead !== null) return server.instead(response);
    const [status, answer] = grant(form);
    await server.beforeAnswer();
    json(response, status, answer);
  }

  const metadata = () => ({
    issuer: origin,
    authorization_endpoint: server.authorizationUrl,
    token_endpoint: server.tokenUrl,
    authorization_response_iss_parameter_supported: true,
    response_types_supported: ['code'],
    jwks_uri: `${origin}/jwks`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  });

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const redirectUri = query.get('redirect_uri') as string;
    const code = token();
    codes.set(code, { challenge: query.get('code_challenge') as string, redirectUri });
    const back = new URL(redirectUri);
    for (const [name, value] of Object.entries({ code, state: query.get('state') as string, iss: origin }))
      back.searchParams.set(name, value);
    response.writeHead(302, { location: back.href }).end();
  }

  function grant(form: Readonly<Record<string, string>>): [status: number, answer: object] {
    switch (form.grant_type) {
      case 'authorization_code': {
        const code = codes.get(form.code ?? '');
        codes.delete(form.code ?? '');
        const challenge = createHash('sha256')
          .update(form.code_verifier ?? '')
          .digest('base64url');
        if (code?.challenge !== challenge || code.redirectUri !== form.redirect_uri) return invalidGrant();
        return [200, pairOf(issue())];
      }
      case 'refresh_token':
        return refresh(form.refresh_token ?? '');
      case 'client_credentials': {
        const access = token();
        clientTokens.add(access);
        return [200, { access_token: access, token_type: 'Bearer', ...life() }];
      }
      default:
        return [400, { error: 'unsupported_grant_type' }];
    }
  }

  function refresh(sent: string): [status: number, answer: object] {
    const used = spent.get(sent);
    if (used !== undefined) {
      used.refresh = null;
      return invalidGrant();
    }
    const family = familyBy('refresh', sent);
    if (family === undefined) return invalidGrant();
    family.access = token();
    family.refreshes += 1;
    if (!server.rotates) return [200, { access_token: family.access, token_type: 'Bearer', ...life() }];
    spent.set(sent, family);
    family.refresh = token();
    return [200, pairOf(family)];
  }

  function invalidGrant(): [number, object] {
    server.refused += 1;
    return [400, { error: 'invalid_grant', error_description: 'not shown to anybody' }];
  }

  const life = () => (server.expiresIn === null ? {} : { expires_in: server.expiresIn });
  const pairOf = ({ access, refresh: next }: Family) => ({
    access_token: access,
    refresh_token: next,
    token_type: 'Bearer',
    ...life(),
  });
  return server;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
