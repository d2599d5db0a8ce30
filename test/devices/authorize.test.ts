// OAuth for MCP by the official clients of both generations, and by its rules: a program that sends a person to /oauth/authorize gets a key with what
// the person gave, once, and only with the verifier, the id and the address with which it began.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
  UnauthorizedError as NewUnauthorized,
} from '@modelcontextprotocol/client';
import { UnauthorizedError as OldUnauthorized } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

const REDIRECT = 'http://127.0.0.1:5000/callback?from=here';
let service: TestService;
let account: TestAccount;
let clientId: string;
let metadata: unknown;
const documents = createServer((request, answer) => {
  answer.setHeader('content-type', 'application/json');
  answer.statusCode = request.url === '/client.json' ? 200 : 404;
  answer.end(typeof metadata === 'string' ? metadata : JSON.stringify(metadata));
});
const document = () => ({
  client_id: clientId,
  client_name: 'An <b>agent</b>',
  redirect_uris: [REDIRECT, 'my-app://done'],
});

beforeAll(async () => {
  service = await startTestService({ env: { ALLOW_PRIVATE_SOURCES: '127.0.0.0/8', TRUST_PROXY: 'loopback' } });
  account = await createTestAccount(service.core);
  documents.listen(0, '127.0.0.1');
  await once(documents, 'listening');
  clientId = `http://127.0.0.1:${(documents.address() as AddressInfo).port}/client.json`;
  metadata = document();
});
afterAll(async () => {
  documents.close();
  documents.closeAllConnections();
  await service.stop();
});

/** Signed in with the account's key. */
async function person(secret = account.secret): Promise<PageVisitor> {
  const visitor = new PageVisitor(service.url);
  const { status } = await visitor.post('/auth/key', { key: secret });
  expect(status).toBe(303);
  return visitor;
}

/** Where the person's answer leads. */
async function answered(visitor: PageVisitor, path: string, fields: Record<string, string>): Promise<URL> {
  const form_token = await visitor.formToken(path);
  const { status, headers, text } = await visitor.post(path, { form_token, ...fields });
  expect([status, text.match(/role="alert"[^>]*>([^<]*)/)?.[1]]).toEqual([200, undefined]);
  return new URL((headers.get('refresh') ?? '').replace('0;url=', ''));
}

const verifier = randomBytes(32).toString('base64url');
const challengeOf = (text: string) => createHash('sha256').update(text).digest('base64url');
function asked(over: Record<string, string | undefined> = {}): string {
  const fields = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    state: 'a state&',
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    scope: 'queue',
    resource: `${service.core.baseUrl}/mcp`,
    ...over,
  };
  const given = Object.entries(fields).filter((each): each is [string, string] => each[1] !== undefined);
  return `/oauth/authorize?${new URLSearchParams(given)}`;
}
async function token(fields: Record<string, string>) {
  const body = {
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    ...fields,
  };
  const response = await fetch(`${service.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(body) });
  return { status: response.status, body: await response.json() };
}
const approved = { action: 'approve', scope: 'queue', lifetime: '30', cap: '5', period: 'total' };
const codeOf = async (visitor: PageVisitor, path = asked()) =>
  (await answered(visitor, path, approved)).searchParams.get('code') ?? '';

describe('the official client', () => {
  /** What a program that connects keeps; `began` is where it sends the person. */
  function program() {
    const kept = {
      verifier: '',
      began: null as URL | null,
      tokens: undefined as { access_token: string; token_type: string } | undefined,
    };
    const provider = {
      redirectUrl: REDIRECT,
      clientMetadata: { client_name: 'An agent', redirect_uris: [REDIRECT], scope: 'queue' },
      clientInformation: () => ({ client_id: clientId }),
      tokens: () => kept.tokens,
      saveTokens: (tokens: NonNullable<typeof kept.tokens>) => {
        kept.tokens = tokens;
      },
      redirectToAuthorization: (url: URL) => {
        kept.began = url;
      },
      saveCodeVerifier: (text: string) => {
        kept.verifier = text;
      },
      codeVerifier: () => kept.verifier,
    };
    return { kept, provider };
  }
  async function decided(url: URL | null): Promise<URL> {
    if (url === null) throw new Error('nobody was sent anywhere');
    expect(url.origin + url.pathname).toBe(`${service.core.baseUrl}/oauth/authorize`);
    return answered(await person(), url.pathname + url.search, approved);
  }

  test('of 2026 finds its way from the address alone to a key that works', async () => {
    const { kept, provider } = program();
    const url = new URL(`${service.core.baseUrl}/mcp/queue`);
    const connect = async (transport: NewTransport) => {
      const mcp = new NewClient({ name: 'a test', version: '1' });
      await mcp.connect(transport);
      return mcp;
    };
    const transport = new NewTransport(url, { authProvider: provider });
    await expect(connect(transport)).rejects.toThrow(NewUnauthorized);
    await transport.finishAuth((await decided(kept.began)).searchParams);
    const mcp = await connect(new NewTransport(url, { authProvider: provider }));
    expect((await mcp.listTools()).tools.map(({ name }) => name)).toContain('queue_publish');
    await mcp.close();
  });

  test('of 2025 too', async () => {
    const { kept, provider } = program();
    const url = new URL(`${service.core.baseUrl}/mcp`);
    const connect = async (transport: OldTransport) => {
      const mcp = new OldClient({ name: 'a test', version: '1' });
      await mcp.connect(transport as unknown as Parameters<OldClient['connect']>[0]);
      return mcp;
    };
    const transport = new OldTransport(url, { authProvider: provider });
    await expect(connect(transport)).rejects.toThrow(OldUnauthorized);
    await transport.finishAuth((await decided(kept.began)).searchParams.get('code') ?? '');
    const mcp = await connect(new OldTransport(url, { authProvider: provider }));
    expect((await mcp.listTools()).tools.map(({ name }) => name)).toContain('queue_publish');
    await mcp.close();
  });
});

describe('a client that registers itself', () => {
  async function register(metadata: unknown, address?: string) {
    const response = await fetch(`${service.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(address === undefined ? {} : { 'x-forwarded-for': address }) },
      body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }
  const own = { client_name: 'A registered one', redirect_uris: [REDIRECT, 'my-app://done'] };

  test('by the official client: from the address alone to a key that works', async () => {
    const kept = { verifier: '', began: null as URL | null, client: undefined as never, tokens: undefined as never };
    const provider = {
      redirectUrl: REDIRECT,
      clientMetadata: { ...own, token_endpoint_auth_method: 'none', scope: 'queue' },
      clientInformation: () => kept.client,
      saveClientInformation: (information: object) => {
        kept.client = information as never;
      },
      tokens: () => kept.tokens,
      saveTokens: (tokens: object) => {
        kept.tokens = tokens as never;
      },
      redirectToAuthorization: (url: URL) => {
        kept.began = url;
      },
      saveCodeVerifier: (text: string) => {
        kept.verifier = text;
      },
      codeVerifier: () => kept.verifier,
    };
    const url = new URL(`${service.core.baseUrl}/mcp`);
    const connect = async (transport: OldTransport) => {
      const mcp = new OldClient({ name: 'a test', version: '1' });
      await mcp.connect(transport as unknown as Parameters<OldClient['connect']>[0]);
      return mcp;
    };
    const transport = new OldTransport(url, { authProvider: provider });
    await expect(connect(transport)).rejects.toThrow(OldUnauthorized);
    const began = kept.began as unknown as URL;
    const visitor = await person();
    const page = await visitor.get(began.pathname + began.search);
    expect(page.text).toContain('the program registered itself');
    expect(page.text).toContain('127.0.0.1:5000');
    const back = await answered(visitor, began.pathname + began.search, approved);
    await transport.finishAuth(back.searchParams.get('code') ?? '');
    const mcp = await connect(new OldTransport(url, { authProvider: provider }));
    expect((await mcp.listTools()).tools.map(({ name }) => name)).toContain('queue_publish');
    await mcp.close();
  });

  test('gets an id that is good for its own addresses alone, and that nobody else can write', async () => {
    const { status, headers, body } = await register(own);
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(body).toEqual({
      client_id: expect.stringMatching(/^qmc_[\w-]+$/),
      client_id_issued_at: expect.any(Number),
      ...own,
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    const visitor = await person();
    const { client_id } = body;
    expect((await visitor.get(asked({ client_id }))).status).toBe(200);
    const page = await visitor.get(asked({ client_id, redirect_uri: 'my-app://done' }));
    expect([page.status, /Returns to<\/dt><dd>([^<]*)/.exec(page.text)?.[1]]).toEqual([200, 'my-app:']);
    for (const wrong of [
      { client_id, redirect_uri: 'https://evil.example/callback' },
      { client_id, redirect_uri: 'http://127.0.0.1:5000/other' },
      { client_id: `${client_id.slice(0, -2)}${client_id.endsWith('AA') ? 'BB' : 'AA'}` },
      { client_id: client_id.slice(0, 40) },
      { client_id: 'qmc_' },
    ])
      expect([wrong, (await visitor.get(asked(wrong))).status]).toEqual([wrong, 400]);
    const code = await codeOf(visitor, asked({ client_id }));
    const another = (await register({ ...own, client_name: 'Another' })).body.client_id;
    expect((await token({ code, client_id: another })).body.error).toBe('invalid_grant');
    expect((await token({ code, client_id })).status).toBe(200);
  });

  test('is told what is wrong; a network registers ten a minute, this machine as often as it likes', async () => {
    for (const [metadata, error] of [
      ['nonsense', 'invalid_client_metadata'],
      [[], 'invalid_client_metadata'],
      [{}, 'invalid_redirect_uri'],
      [{ redirect_uris: [] }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['http://example.org/plain'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['https://:password@example.org/'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['https://example.org/#'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [`https://example.org/${'x'.repeat(1_000)}`] }, 'invalid_redirect_uri'],
      [{ ...own, client_name: 'two\nlines' }, 'invalid_client_metadata'],
      [{ ...own, grant_types: ['password'] }, 'invalid_client_metadata'],
      [{ ...own, response_types: 'code' }, 'invalid_client_metadata'],
    ] as const) {
      const { status, body } = await register(metadata);
      expect([metadata, status, body.error]).toEqual([metadata, 400, error]);
    }
    const all = await Promise.all(Array.from({ length: 14 }, (_, i) => register(own, `192.0.2.${i + 1}`)));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = all.find(({ status }) => status === 429);
    expect(refused?.body.error).toBe('slow_down');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await register(own, '198.51.100.1')).status).toBe(201);
  });
});

test('the key is what the person gave, under the name of the program, and the state comes back', async () => {
  const visitor = await person();
  const page = await visitor.get(asked({ scope: 'queue vector' }));
  expect(page.text).toContain('An &lt;b&gt;agent&lt;/b&gt;');
  expect(page.text).toContain('127.0.0.1:5000');
  const back = await answered(visitor, asked({ scope: 'queue vector' }), approved);
  expect(back.href).toMatch(/^http:\/\/127\.0\.0\.1:5000\/callback\?from=here&code=/);
  expect([back.searchParams.get('state'), back.searchParams.get('iss')]).toEqual(['a state&', service.core.baseUrl]);
  const { status, body } = await token({ code: back.searchParams.get('code') ?? '' });
  expect([status, body]).toMatchObject([200, { token_type: 'Bearer', scope: 'queue', account_id: account.accountId }]);
  expect(body.expires_in).toBeGreaterThan(29 * 86_400);
  const keys = (await client(service.url, account.secret)('GET', '/v1/account/keys/list')).body.data.items;
  expect(keys.find(({ key_id: id }: { key_id: string }) => id === body.key_id)).toMatchObject({
    name: 'An <b>agent</b>',
    scopes: ['queue'],
  });
});

test.each([
  ['openid email profile', ['account:read', 'ai:read', 'alerts:read']],
  ['openid queue offline_access', ['queue']],
  ['email offline_access', ['email']],
])('of "%s" the page offers the scopes that a key can have', async (scope, wanted) => {
  const page = await (await person()).get(asked({ scope }));
  const chosen = [...page.text.matchAll(/<option value="([^"]+)" selected/g)].map(([, value = '']) => value);
  // The key's lifetime and the period of its cap are chosen behind them.
  expect([...chosen.slice(0, wanted.length), ...chosen.slice(-2)]).toEqual([...wanted, '90', 'monthly']);
});

test('a program on the person’s machine may listen on any port', async () => {
  const redirect_uri = REDIRECT.replace('5000', '61234');
  const back = await answered(await person(), asked({ redirect_uri }), approved);
  expect(back.host).toBe('127.0.0.1:61234');
  const code = back.searchParams.get('code') ?? '';
  expect((await token({ code })).body.error).toBe('invalid_grant');
  expect((await token({ code, redirect_uri })).status).toBe(200);
});

test('a code is good once, of two at the same time for one, and for nobody who lacks a part of its beginning', async () => {
  const visitor = await person();
  const code = await codeOf(visitor);
  const wrongs: Record<string, string>[] = [
    { code_verifier: randomBytes(32).toString('base64url') },
    { code_verifier: challengeOf(verifier) },
    { client_id: `${clientId}x` },
    { redirect_uri: 'my-app://done' },
    { code: randomBytes(32).toString('base64url') },
    { code: 'x' },
  ];
  for (const wrong of wrongs)
    expect([wrong, (await token({ code, ...wrong })).body.error]).toEqual([wrong, 'invalid_grant']);
  expect((await token({ code, resource: 'https://other.example/mcp' })).body.error).toBe('invalid_target');
  expect((await token({ code: '' })).body.error).toBe('invalid_request');
  // Whoever catches the code cannot have it pass for that of a device.
  for (const client_id of [clientId, 'An <b>agent</b>']) {
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    expect((await token({ grant_type, device_code: code, client_id })).body.error).toBe('invalid_grant');
  }
  const both = await Promise.all([token({ code }), token({ code })]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect((await token({ code })).body.error).toBe('invalid_grant');
  const late = await codeOf(visitor);
  await service.advance(601);
  expect((await token({ code: late })).body.error).toBe('invalid_grant');
});

test('a no, or less than nothing, gives no key', async () => {
  const visitor = await person();
  const denied = await answered(visitor, asked(), { action: 'deny' });
  expect([denied.searchParams.get('error'), denied.searchParams.get('code')]).toEqual(['access_denied', null]);
  const form_token = await visitor.formToken(asked());
  for (const [fields, field] of [
    [{ ...approved, scope: 'vector' }, 'device-fault'],
    [{ ...approved, cap: 'much' }, 'cap-fault'],
    [{ ...approved, lifetime: '3' }, 'lifetime-fault'],
  ] as const) {
    const { status, text, headers } = await visitor.post(asked(), { form_token, ...fields });
    expect([status, headers.get('refresh')]).toEqual([400, null]);
    expect(text).toMatch(field === 'device-fault' ? /scopes-fault/ : new RegExp(field));
  }
});

test('forms of other pages, and people who are not signed in or may make no keys, give nothing', async () => {
  const visitor = await person();
  const form_token = await visitor.formToken(asked());
  for (const [fields, headers] of [
    [{ ...approved }, {}],
    [{ ...approved, form_token: 'x' }, {}],
    [{ ...approved, form_token }, { origin: 'https://evil.example' }],
  ] as const)
    expect((await visitor.post(asked(), { ...fields }, headers)).status).toBe(403);
  const stranger = await new PageVisitor(service.url).get(asked());
  expect([stranger.status, stranger.location]).toEqual([
    303,
    expect.stringMatching(/^\/auth\?return_to=%2Foauth%2Fauthorize/),
  ]);
  const narrow = await createTestAccount(service.core, 1, ['queue']);
  expect((await (await person(narrow.secret)).get(asked())).status).toBe(403);
});

describe('whoever asks wrongly is told on a page, and nobody is sent anywhere', () => {
  test.each([
    ['no client', { client_id: undefined }],
    ['a client that is a name', { client_id: 'an agent' }],
    ['a client of plain http elsewhere', { client_id: 'http://example.org/client.json' }],
    ['another address of the same document', { client_id: 'self?x' }],
    ['a document that is not there', { client_id: 'missing' }],
    ['an address that is none of the client’s', { redirect_uri: 'https://evil.example/callback' }],
    ['a path that is none of the client’s', { redirect_uri: 'http://127.0.0.1:5000/other' }],
    ['an address that is a program of the browser', { redirect_uri: 'javascript:alert(1)' }],
    ['no challenge', { code_challenge: undefined }],
    ['a plain challenge', { code_challenge_method: 'plain' }],
    ['another response', { response_type: 'token' }],
    ['a scope that there is not', { scope: 'queue nonsense' }],
    ['a scope of the operator', { scope: 'operator' }],
    ['another service', { resource: 'https://other.example/mcp' }],
    ['a long state', { state: 'x'.repeat(2_001) }],
  ])('%s', async (_, over: Record<string, string | undefined>) => {
    const { client_id } = over;
    const changed =
      client_id === 'self?x'
        ? { client_id: `${clientId}?x` }
        : client_id === 'missing'
          ? { client_id: clientId.replace('client', 'none') }
          : over;
    const { status, headers, text } = await (await person()).get(asked(changed));
    expect([status, headers.get('refresh'), headers.get('location')]).toEqual([400, null, null]);
    expect(text).toContain('role="alert"');
  });

  test('a document that is another client’s, no object, or too long', async () => {
    const visitor = await person();
    for (const sent of [
      { ...document(), client_id: 'https://other.example/' },
      [],
      'nonsense',
      `"${'x'.repeat(70_000)}"`,
    ]) {
      metadata = sent;
      expect((await visitor.get(asked())).status).toBe(400);
    }
    metadata = document();
    expect((await visitor.get(asked())).status).toBe(200);
    expect((await visitor.get(`${asked()}&state=2`)).status).toBe(400);
  });
});
