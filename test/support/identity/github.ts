// A server that signs people in as GitHub does: no issuer, no ID token, numbers as subjects, failures of the token endpoint under 200.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer } from './oidc.ts';

export interface GitHubUser {
  readonly id: number;
  readonly login: string;
  readonly emails: readonly { readonly email: string; readonly primary: boolean; readonly verified: unknown }[];
  /** Further fields of who it is. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface GitHubServer {
  readonly url: string;
  user: GitHubUser;
  /** Of IDENTITY_PROVIDERS. */
  entry(id: string): Record<string, unknown>;
  stop(): Promise<void>;
}

const CLIENT = { id: 'Iv1.tests', secret: 'a secret of the tests' };

export async function startGitHub(): Promise<GitHubServer> {
  const codes = new Map<string, { readonly challenge: string | null; readonly redirect: string | null }>();
  const tokens = new Map<string, GitHubUser>();
  const http = createServer(async (req, res) => {
    const url = new URL(req.url ?? '/', github.url);
    if (url.pathname === '/login/oauth/authorize')
      return void res.writeHead(302, { location: authorize(url.searchParams) }).end();
    const answer = url.pathname === '/login/oauth/access_token' ? exchange(await form(req)) : tell(url.pathname, req);
    res.writeHead(answer === null ? 401 : 200, { 'content-type': 'application/json; charset=utf-8' });
    res.end(JSON.stringify(answer ?? { message: 'Bad credentials' }));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const github: GitHubServer = {
    url,
    user: { id: 1, login: 'nobody', emails: [] },
    entry: (id) => ({
      id,
      type: 'github',
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      authorization_url: `${url}/login/oauth/authorize`,
      token_url: `${url}/login/oauth/access_token`,
      userinfo_url: `${url}/user`,
    }),
    stop: () => closeServer(http),
  };
  return github;

  function authorize(query: URLSearchParams): string {
    const code = randomUUID();
    codes.set(code, { challenge: query.get('code_challenge'), redirect: query.get('redirect_uri') });
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    return back.href;
  }

  function exchange(sent: URLSearchParams): Record<string, unknown> {
    const code = codes.get(sent.get('code') ?? '');
    codes.delete(sent.get('code') ?? '');
    if (sent.get('client_id') !== CLIENT.id || sent.get('client_secret') !== CLIENT.secret)
      return { error: 'incorrect_client_credentials' };
    const challenge = createHash('sha256')
      .update(sent.get('code_verifier') ?? '')
      .digest('base64url');
    if (code?.challenge !== challenge || code.redirect !== sent.get('redirect_uri'))
      return { error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' };
    const token = randomUUID();
    tokens.set(token, github.user);
    return { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' };
  }

  function tell(path: string, { headers }: IncomingMessage): unknown {
    const user = tokens.get((headers.authorization ?? '').replace(/^bearer /i, ''));
    if (user === undefined || headers['user-agent'] === undefined) return null;
    if (path === '/user/emails') return user.emails;
    return { id: user.id, login: user.login, name: null, email: 'public@example.org', ...user.fields };
  }
}

async function form(req: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
