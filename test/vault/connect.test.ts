// A person connects an account at a provider: the page, the way there and back, and who cannot finish what another one began.
import type { ClientMetadata } from 'oidc-provider';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Walker, walker } from '../support/identity/browser-walk.ts';
import { startOidc } from '../support/identity/oidc.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { startTarget, type Target, type Vault, vaultAt } from './harness.ts';
import { bearersOf, callTogether, endToken, failuresOf, statusOf } from './oauth-harness.ts';
import { CLIENT, type OAuthServer, startOAuthServer } from './oauth-server.ts';

let service: TestService;
let target: Target;
let server: OAuthServer;
let vault: Vault;

beforeAll(async () => {
  service = await startTestService({ env: { ALLOW_PRIVATE_SOURCES: '127.0.0.0/8' } });
  target = await startTarget();
});
afterAll(async () => {
  await service.stop();
  await target.stop();
});
beforeEach(async () => {
  server = await startOAuthServer();
  vault = await vaultAt(service, target);
  target.seen.length = 0;
});
afterEach(() => server.stop());

const CLIENT_FIELDS = { client_id: CLIENT.id, client_secret: CLIENT.secret };

async function setProvider(fields: Readonly<Record<string, unknown>> = {}) {
  const addresses = { authorization_url: server.authorizationUrl, token_url: server.tokenUrl };
  const named = 'issuer' in fields ? {} : addresses;
  return vault.call('PUT', '/v1/vault/provider/set', { provider: 'forge', ...named, ...CLIENT_FIELDS, ...fields });
}

async function startConnect(fields: Readonly<Record<string, unknown>> = {}) {
  const input = { connection: 'forge', provider: 'forge', hosts: [target.host], ...fields };
  return vault.call('POST', '/v1/vault/connect/start', input);
}

/** The address of a page. */
async function pageOf(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { body } = await startConnect(fields);
  expect(body.error ?? null).toBeNull();
  return body.data.url;
}

/** Where the button leads to, in this browser. */
async function begin(browser: Walker, page: string): Promise<string> {
  const answer = await browser.post(page, { decision: 'connect' });
  expect(answer.status).toBe(200);
  return (answer.headers.get('refresh') as string).replace('0; url=', '');
}

/** The way back, unvisited. */
async function agree(browser: Walker, page: string): Promise<string> {
  return (await browser.walk(await begin(browser, page), `${service.url}/connect/callback`)).href;
}

const textOf = async (answer: Response) => [answer.status, await answer.text()] as const;

describe('a provider', () => {
  test('never shows its secret, and changes where that goes only with it', async () => {
    const { body, text } = await setProvider({ scopes: ['a', 'b', 'a'] });
    expect(body.data).toMatchObject({ provider: 'forge', issuer: null, scopes: ['a', 'b'], auth: 'post' });
    expect(body.data.redirect_uri).toBe(`${service.url}/connect/callback`);
    const listed = await vault.call('GET', '/v1/vault/provider/list');
    for (const shown of [text, listed.text]) expect(shown).not.toContain(JSON.stringify(CLIENT.secret).slice(1, -1));
    const without = { client_secret: undefined };
    for (const change of [
      { token_url: `${server.origin}/other` },
      { authorization_url: `${server.origin}/other` },
      { client_id: 'other' },
      { auth: 'basic' },
    ]) {
      const refused = await setProvider({ ...without, ...change });
      expect([refused.status, refused.body.error.code], JSON.stringify(change)).toEqual([400, 'SECRET_NEEDED']);
    }
    expect((await setProvider({ ...without, scopes: ['c'] })).body.data.scopes).toEqual(['c']);
    expect((await setProvider({ ...without, auth: 'none', token_url: `${server.origin}/other` })).status).toBe(200);
    expect((await setProvider({ ...without, auth: 'post' })).body.error.code).toBe('SECRET_NEEDED');
  });

  test.each(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'] as const)(
    'is found by its issuer at %s',
    async (at) => {
      server.documents = { at };
      const { body } = await setProvider({ issuer: server.origin });
      expect(body.data).toMatchObject({
        issuer: server.origin,
        authorization_url: server.authorizationUrl,
        token_url: server.tokenUrl,
      });
      // The document is not asked again without the secret.
      server.documents = null;
      expect((await setProvider({ issuer: `${server.origin}/`, client_secret: undefined, scopes: ['a'] })).status).toBe(
        200,
      );
      expect((await setProvider({ issuer: server.origin })).body.error.code).toBe('TARGET_FAILED');
    },
  );

  test('is of public hosts, and of 50 an account', async () => {
    for (const url of [
      'http://example.com/token',
      'https://192.168.0.1/token',
      'https://10.0.0.1/token',
      'ftp://example.com/',
    ])
      for (const name of ['authorization_url', 'token_url', 'issuer']) {
        const { status, body } = await setProvider(name === 'issuer' ? { issuer: url } : { [name]: url });
        expect([status, body.error?.param], url).toEqual([400, name]);
      }
    await service.core.db.query(
      {
        name: '',
        text: `INSERT INTO vault.provider SELECT $1, 'p' || i, NULL, '', '', false, '', NULL, '[]', 'none', now(), now() FROM generate_series(1, 50) i`,
      },
      [vault.account.accountId],
    );
    expect((await setProvider()).body.error.code).toBe('QUOTA_EXCEEDED');
  });
});

describe('a page', () => {
  test('connects once: names what is asked for, and the tokens serve calls and are refreshed', async () => {
    server.documents = { at: '/.well-known/openid-configuration' };
    await setProvider({ issuer: server.origin, scopes: ['read <all>'.replace(' ', '')] });
    const page = await pageOf({ allow: [{ methods: ['GET'], path: '/repos/<b>/*' }] });
    expect(await statusOf(vault)).toMatchObject({
      status: 'pending',
      kind: 'oauth2',
      provider: 'forge',
      fingerprint: null,
    });
    expect((await callTogether([service], vault, target, 1))[0]?.body.error).toMatchObject({ code: 'RULE_REFUSED' });
    const browser = walker();
    const shown = await browser.get(page);
    const [status, text] = await textOf(shown);
    expect(status).toBe(200);
    for (const part of [
      vault.account.accountId,
      'forge',
      target.host,
      new URL(server.origin).host,
      'GET /repos/&lt;b&gt;/*',
      'read&lt;all&gt;',
    ])
      expect(text).toContain(part);
    expect(text).not.toMatch(/<script|<b>/);
    expect(shown.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
    });

    const sentTo = new URL(await begin(browser, page));
    expect(Object.fromEntries(sentTo.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: CLIENT.id,
      redirect_uri: `${service.url}/connect/callback`,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      scope: 'read<all>',
    });
    const back = await agree(browser, page);
    expect(await textOf(await browser.get(back))).toEqual([200, expect.stringContaining('is connected')]);
    expect(await statusOf(vault)).toMatchObject({
      status: 'ready',
      version: 2,
      provider: 'forge',
      token_ends_at: expect.any(String),
      allow: [{ methods: ['GET'], path: '/repos/<b>/*' }],
    });
    expect(server.asked.at(-1)?.form).toMatchObject({
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      grant_type: 'authorization_code',
    });
    for (const again of [back, page]) expect((await browser.get(again)).status).toBeGreaterThanOrEqual(400);
    expect((await browser.post(page, { decision: 'connect' })).status).toBe(410);

    const call = () => vault.call('POST', '/v1/vault/call', { connection: 'forge', url: `${target.url}/repos/<b>/x` });
    expect((await call()).status).toBe(200);
    await service.advance(3_601);
    expect((await call()).status).toBe(200);
    expect(server.asked.at(-1)?.form.grant_type).toBe('refresh_token');
    expect(bearersOf(target)).toHaveLength(2);
  });

  test('is not finished by another browser, with another state, or twice', async () => {
    await setProvider();
    const page = await pageOf();
    const [mine, other] = [walker(), walker()];
    const back = await agree(mine, page);
    // The way back that somebody has begun, in the browser of another: nothing is asked of the provider.
    expect((await other.get(back)).status).toBe(400);
    // The other has begun too, with a cookie of its own.
    await begin(other, page);
    expect((await other.get(back)).status).toBe(400);
    for (const [name, value] of [
      ['state', 'x.y'],
      ['state', `${new URL(back).searchParams.get('state')}A`],
    ] as const) {
      const changed = new URL(back);
      changed.searchParams.set(name, value);
      expect((await mine.get(changed.href)).status).toBe(400);
    }
    expect(server.asked.length).toBe(0);
    expect((await statusOf(vault)).status).toBe('pending');
    expect((await mine.get(back)).status).toBe(200);
    expect((await mine.get(back)).status).toBe(400);
    expect(server.asked.length).toBe(1);
  });

  test('takes no code of another attempt: the verifier is of this one', async () => {
    await setProvider();
    const page = await pageOf();
    const [mine, other] = [walker(), walker()];
    const [back, stolen] = [new URL(await agree(mine, page)), new URL(await agree(other, page))];
    back.searchParams.set('code', stolen.searchParams.get('code') as string);
    expect((await mine.get(back.href)).status).toBe(502);
    expect((await statusOf(vault)).status).toBe('pending');
  });

  test('takes no answer of another server than its issuer (RFC 9207)', async () => {
    server.documents = { at: '/.well-known/oauth-authorization-server' };
    await setProvider({ issuer: server.origin });
    const page = await pageOf();
    for (const change of [
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
      (url: URL) => url.searchParams.delete('iss'),
    ]) {
      const browser = walker();
      const back = new URL(await agree(browser, page));
      change(back);
      expect((await browser.get(back.href)).status).toBe(400);
    }
    expect(server.asked.length).toBe(0);
  });

  test('says so when the person or the provider declines', async () => {
    await setProvider();
    const page = await pageOf();
    const browser = walker();
    const back = new URL(await agree(browser, page));
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', '<b>evil</b>');
    const [status, text] = await textOf(await browser.get(back.href));
    expect([status, text.includes('evil')]).toEqual([403, false]);
    expect(await textOf(await browser.post(page, { decision: 'decline' }))).toEqual([
      200,
      expect.stringContaining('You declined'),
    ]);
    expect((await browser.get(page)).status).toBe(410);
  });

  test('takes forms of its own only, and no link that it has not made', async () => {
    await setProvider();
    const page = await pageOf();
    const browser = walker();
    expect((await browser.post(page, { decision: 'connect' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await browser.get(`${page.slice(0, -1)}${page.endsWith('A') ? 'B' : 'A'}`)).status).toBe(404);
    expect((await browser.get(`${service.url}/connect/x`)).status).toBe(404);
    await service.advance(601);
    expect((await browser.get(page)).status).toBe(410);
  });

  test('sends nothing to a provider that was changed since', async () => {
    await setProvider();
    const page = await pageOf();
    const evil = await startOAuthServer();
    const addresses = { authorization_url: evil.authorizationUrl, token_url: evil.tokenUrl };
    expect((await setProvider(addresses)).status).toBe(200);
    const browser = walker();
    expect((await browser.get(await agree(browser, page))).status).toBe(200);
    await service.advance(3_601);
    expect(failuresOf(await callTogether([service], vault, target, 1))).toEqual([]);
    expect([evil.asked.length, server.asked.length]).toEqual([0, 2]);
    await evil.stop();
  });

  test('is good no more once its key has ended, or may connect no more', async () => {
    await setProvider();
    for (const end of ['revoke', 'narrow', 'delete']) {
      const made = await createTestAccount(service.core, 1);
      vault = { ...vault, account: made, call: client(service.url, made.secret) };
      await setProvider();
      const { body } = await vault.call('POST', '/v1/account/keys/create', {
        name: 'starter',
        scopes: ['vault:write'],
      });
      const starter = client(service.url, body.data.secret ?? body.data.key);
      const input = { connection: 'forge', provider: 'forge', hosts: [target.host] };
      const page = (await starter('POST', '/v1/vault/connect/start', input)).body.data.url;
      const browser = walker();
      const back = await agree(browser, page);
      const id = body.data.key_id;
      if (end === 'revoke') expect((await vault.call('DELETE', `/v1/account/keys/revoke/${id}`)).status).toBe(200);
      if (end === 'narrow')
        expect((await vault.call('PATCH', `/v1/account/keys/update/${id}`, { scopes: ['vault:read'] })).status).toBe(
          200,
        );
      if (end === 'delete') expect((await vault.call('DELETE', '/v1/vault/connection/delete/forge')).status).toBe(200);
      expect((await browser.get(back)).status, end).toBe(403);
      if (end !== 'delete') expect((await statusOf(vault)).status).toBe('pending');
    }
  });

  test('is not made for a connection of another kind, or of other hosts', async () => {
    await setProvider();
    await vault.connect({ connection: 'plain' });
    expect((await startConnect({ connection: 'plain' })).body.error.code).toBe('STATE_CONFLICT');
    const browser = walker();
    await browser.get(await agree(browser, await pageOf()));
    expect((await startConnect({ hosts: ['evil.example'] })).body.error.code).toBe('STATE_CONFLICT');
    // Connected anew, for the same hosts.
    const anew = await agree(browser, await pageOf({ allow: [{ methods: ['GET'], path: '/x' }] }));
    expect((await browser.get(anew)).status).toBe(200);
    expect(await statusOf(vault)).toMatchObject({ version: 3, allow: [{ methods: ['GET'], path: '/x' }] });
    expect((await startConnect({ provider: 'nobody' })).body.error).toMatchObject({
      code: 'NOT_FOUND',
      param: 'provider',
    });
  });

  test('and its provider are nobody else’s', async () => {
    await setProvider();
    const mine = vault;
    vault = await vaultAt(service, target);
    expect((await startConnect()).body.error.code).toBe('NOT_FOUND');
    expect((await vault.call('GET', '/v1/vault/provider/list')).body.data.items).toEqual([]);
    expect((await vault.call('DELETE', '/v1/vault/provider/delete/forge')).body.data.deleted).toBe(false);
    expect((await mine.call('GET', '/v1/vault/provider/list')).body.data.items).toHaveLength(1);
  });
});

describe('oidc-provider, which rotates and looks for reuse', () => {
  test('is found, connected by a person, and refreshed once by 20 callers at each of 2 ends', async () => {
    const client: Partial<ClientMetadata> = {
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_basic',
    };
    const refused: unknown[] = [];
    const oidc = await startOidc([`${service.url}/connect/callback`], client, {
      rotateRefreshToken: true,
      issueRefreshToken: async () => true,
      ttl: { AccessToken: 300, RefreshToken: 3_600, Session: 600, Grant: 3_600, Interaction: 60, IdToken: 60 },
    });
    oidc.person = { sub: 'u-1' };
    const entry = oidc.entry('forge') as { readonly client_id: string; readonly client_secret: string };
    const { client_id, client_secret } = entry;
    const scopes = ['openid', 'offline_access'];
    const set = await setProvider({ issuer: oidc.issuer, client_id, client_secret, auth: 'basic', scopes });
    expect(set.body.error ?? null).toBeNull();
    const browser = walker();
    expect(await textOf(await browser.get(await agree(browser, await pageOf())))).toEqual([
      200,
      expect.stringContaining('is connected'),
    ]);
    for (let ends = 1; ends <= 2; ends += 1) {
      await endToken(service, vault);
      target.seen.length = 0;
      refused.push(...failuresOf(await callTogether([service], vault, target, 20)));
      expect([refused, bearersOf(target).length]).toEqual([[], 1]);
    }
    expect(await statusOf(vault)).toMatchObject({ status: 'ready', kind: 'oauth2' });
    await oidc.stop();
  });
});
