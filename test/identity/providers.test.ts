// What a provider's answer must prove before anybody is signed in, by real providers and by one that forges.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityProviders } from '../../src/config/identity-providers.ts';
import { Variables } from '../../src/config/variables.ts';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import { oauth2Provider } from '../../src/vendors/identity/oauth2.ts';
import { oidcProvider } from '../../src/vendors/identity/oidc.ts';
import type { IdentityProvider } from '../../src/vendors/identity/port.ts';
import { walker } from '../support/identity/browser-walk.ts';
import { type Forger, type Forgery, startForger } from '../support/identity/forger.ts';
import { type GitHubServer, startGitHub } from '../support/identity/github.ts';
import { type OidcServer, startOidc } from '../support/identity/oidc.ts';

// Nobody listens there: the tests bring back what the browser would.
const CALLBACK = 'http://127.0.0.1:8787/auth/callback';
const outbound = createOutboundClient({ allowPrivateTargets: [] });

let [first, second]: OidcServer[] = [];
let github: GitHubServer;

beforeAll(async () => {
  first = await startOidc([`${CALLBACK}/first`]);
  second = await startOidc([`${CALLBACK}/second`], { token_endpoint_auth_method: 'client_secret_post' });
  github = await startGitHub();
});

afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop(), github?.stop(), outbound.close()]);
});

function provider(entry: Record<string, unknown>): IdentityProvider {
  const env = { IDENTITY_PROVIDERS: JSON.stringify([entry]) };
  const [settings] = identityProviders(new Variables(env));
  if (settings === undefined) throw new Error('no provider was read');
  return settings.type === 'oidc' ? oidcProvider(settings, outbound) : oauth2Provider(settings, outbound);
}

function the<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it was not started');
  return value;
}

async function cameBack(from: IdentityProvider) {
  const { url, checks } = await from.begin(`${CALLBACK}/${from.id}`);
  return { callback: await walker().walk(url, CALLBACK), checks };
}

describe('a real provider of OpenID Connect', () => {
  test('says who came, with an address that it has verified', async () => {
    the(first).person = { sub: 'u-1', email: 'Ada@Example.org', email_verified: true, name: 'Ada' };
    const corp = provider(the(first).entry('first'));
    const { callback, checks } = await cameBack(corp);
    const { issuer } = the(first);
    const ada = { issuer, subject: 'u-1', verifiedEmail: 'Ada@Example.org', name: 'Ada' };
    expect(await corp.finish(callback, checks)).toEqual(ada);
  });

  test('an address that it has not verified does not count', async () => {
    the(second).person = { sub: 'u-2', email: 'ada@example.org', email_verified: false };
    const corp = provider(the(second).entry('second'));
    const { callback, checks } = await cameBack(corp);
    expect(await corp.finish(callback, checks)).toMatchObject({ subject: 'u-2', verifiedEmail: null, name: null });
  });

  test('a code is good once', async () => {
    the(first).person = { sub: 'u-3' };
    const corp = provider(the(first).entry('first'));
    const { callback, checks } = await cameBack(corp);
    await corp.finish(callback, checks);
    await expect(corp.finish(callback, checks)).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('neither state, nonce nor verifier of another sign-in is taken', async () => {
    the(first).person = { sub: 'u-4' };
    const corp = provider(the(first).entry('first'));
    const { checks: others } = await corp.begin(`${CALLBACK}/first`);
    for (const name of ['state', 'nonce', 'codeVerifier'] as const) {
      const { callback, checks } = await cameBack(corp);
      const mixed = { ...checks, [name]: others[name] };
      await expect(corp.finish(callback, mixed), name).rejects.toMatchObject({ kind: 'invalid' });
    }
  });

  // RFC 9207: the code of one is not handed to the other.
  test('what comes from one provider is not taken at the callback of another', async () => {
    the(first).person = { sub: 'u-5' };
    const [one, other] = [provider(the(first).entry('first')), provider(the(second).entry('second'))];
    const { callback, checks } = await cameBack(one);
    const elsewhere = new URL(`${CALLBACK}/second${callback.search}`);
    await expect(other.finish(elsewhere, checks)).rejects.toMatchObject({ kind: 'invalid' });
    elsewhere.searchParams.set('iss', the(second).issuer);
    await expect(other.finish(elsewhere, checks)).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('who declines at the provider is told so', async () => {
    const corp = provider(the(first).entry('first'));
    const { checks } = await corp.begin(`${CALLBACK}/first`);
    const query = new URLSearchParams({ error: 'access_denied', state: checks.state, iss: the(first).issuer });
    const declined = corp.finish(new URL(`${CALLBACK}/first?${query}`), checks);
    await expect(declined).rejects.toMatchObject({ kind: 'declined' });
  });
});

describe('a server like GitHub', () => {
  test('says who came by number, with the first verified address', async () => {
    const emails = [
      { email: 'old@example.org', primary: false, verified: true },
      { email: 'octo@example.org', primary: true, verified: true },
    ];
    github.user = { id: 583_231, login: 'octocat', emails };
    const octo = provider(github.entry('github'));
    const { callback, checks } = await cameBack(octo);
    const known = { issuer: `${github.url}/user`, subject: '583231' };
    expect(await octo.finish(callback, checks)).toEqual({
      ...known,
      verifiedEmail: 'octo@example.org',
      name: 'octocat',
    });
    await expect(octo.finish(callback, checks)).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('an address that it has not verified does not count, nor the one people show', async () => {
    github.user = { id: 2, login: 'new', emails: [{ email: 'new@example.org', primary: true, verified: false }] };
    const octo = provider(github.entry('github'));
    const { callback, checks } = await cameBack(octo);
    expect(await octo.finish(callback, checks)).toMatchObject({ subject: '2', verifiedEmail: null });
  });

  test('another state is refused before anything is asked', async () => {
    const octo = provider(github.entry('github'));
    const { callback, checks } = await cameBack(octo);
    const refused = octo.finish(callback, { ...checks, state: 'another' });
    await expect(refused).rejects.toMatchObject({ kind: 'invalid' });
    expect(await octo.finish(callback, checks)).toMatchObject({ subject: '2' });
  });

  test.each([
    [true, 'told@example.org'],
    ['true', null],
    ['false', null],
    [1, null],
  ])('verified by %j it is %s, in the list of GitHub and in the field of another server', async (verified, email) => {
    const emails = [{ email: 'told@example.org', primary: true, verified }];
    github.user = { id: 3, login: 'told', emails, fields: { email: 'told@example.org', checked: verified } };
    const fields = { subject_field: 'id', email_field: 'email', email_verified_field: 'checked' };
    for (const entry of [github.entry('github'), { ...github.entry('plain'), type: 'oauth2', ...fields }]) {
      const server = provider(entry);
      const { callback, checks } = await cameBack(server);
      expect(await server.finish(callback, checks)).toMatchObject({ subject: '3', verifiedEmail: email });
    }
  });
});

describe('an issuer that forges', () => {
  let forger: Forger;
  let nonce = '';

  beforeAll(async () => {
    forger = await startForger('qm', () => nonce);
  });
  afterAll(() => forger.stop());

  async function signIn(forgery: Forgery, query: Record<string, string> = {}) {
    forger.forgery = forgery;
    const corp = provider({ id: 'corp', type: 'oidc', issuer: forger.issuer, client_id: 'qm', client_secret: 's' });
    const { checks } = await corp.begin(`${CALLBACK}/corp`);
    nonce = checks.nonce;
    const sent = new URLSearchParams({ code: 'code', state: checks.state, ...query });
    return corp.finish(new URL(`${CALLBACK}/corp?${sent}`), checks);
  }

  test('an honest token signs in', async () => {
    expect(await signIn({})).toMatchObject({ subject: 'u-1', verifiedEmail: 'ada@example.org' });
  });

  test.each<[string, Forgery]>([
    ['another nonce', { claims: { nonce: 'another' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['another issuer', { claims: { iss: 'https://id.example.org' } }],
    ['another audience', { claims: { aud: 'another' } }],
    ['several audiences and another party', { claims: { aud: ['qm', 'another'], azp: 'another' } }],
    ['a time that is over', { claims: { exp: 1 } }],
    ['a time to come', { claims: { nbf: 9_999_999_999 } }],
    ['no subject', { claims: { sub: '' } }],
    ['a subject without end', { claims: { sub: 'u'.repeat(256) } }],
    ['a key that the issuer does not publish', { signed: 'other' }],
    ['such a key under the name of one that it does', { signed: 'other', header: { kid: 'own' } }],
    ['no signature', { signed: 'none' }],
    ['a signature of another kind', { header: { alg: 'HS256' } }],
    ['another kind than the issuer has', { header: { alg: 'ES256' } }],
    ['no token', { token: { status: 200, body: '{"access_token": "t", "token_type": "bearer"}' } }],
    ['a refusal', { token: { status: 400, body: '{"error": "invalid_grant"}' } }],
    ['rubbish', { token: { status: 200, body: '<html>' } }],
  ])('%s is no proof', async (_, forgery) => {
    await expect(signIn(forgery)).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('an address counts only where it says verified', async () => {
    for (const verified of [false, 'true', 'false', 1, 'yes', null, undefined])
      expect(await signIn({ claims: { email_verified: verified } })).toMatchObject({ verifiedEmail: null });
    expect(await signIn({ claims: { email_verified: true } })).toMatchObject({ verifiedEmail: 'ada@example.org' });
    expect(await signIn({ claims: { email: 'two words@x' } })).toMatchObject({ verifiedEmail: null });
  });

  test('an answer without end is cut off; one that fails may be asked again', async () => {
    const endless = { status: 200, body: JSON.stringify({ access_token: 'x'.repeat(300_000) }) };
    await expect(signIn({ token: endless })).rejects.toMatchObject({ kind: 'unreachable' });
    await expect(signIn({ token: { status: 503, body: '{}' } })).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['of another issuer', { issuer: 'https://id.example.org' }, 'invalid'],
    ['that send people where no TLS is', { authorization_endpoint: 'http://id.example.org/authorize' }, 'invalid'],
    ['that send people into a script', { authorization_endpoint: 'javascript:alert(1)' }, 'invalid'],
    ['whose tokens come from a private address', { token_endpoint: 'http://10.0.0.1/token' }, 'unreachable'],
  ])('metadata %s are not believed', async (_, metadata, kind) => {
    await expect(signIn({ metadata })).rejects.toMatchObject({ kind });
  });

  test('metadata that could not be believed are read again for the next who comes', async () => {
    forger.forgery = { metadata: { issuer: 'https://id.example.org' } };
    const corp = provider({ id: 'corp', type: 'oidc', issuer: forger.issuer, client_id: 'qm' });
    await expect(corp.begin(`${CALLBACK}/corp`)).rejects.toMatchObject({ kind: 'invalid' });
    forger.forgery = {};
    await expect(corp.begin(`${CALLBACK}/corp`)).resolves.toMatchObject({ checks: {} });
  });

  test('a code given twice in one callback is refused', async () => {
    const before = forger.exchanges.length;
    const corp = provider({ id: 'corp', type: 'oidc', issuer: forger.issuer, client_id: 'qm' });
    const { checks } = await corp.begin(`${CALLBACK}/corp`);
    const doubled = new URL(`${CALLBACK}/corp?code=a&code=b&state=${checks.state}`);
    await expect(corp.finish(doubled, checks)).rejects.toMatchObject({ kind: 'invalid' });
    expect(forger.exchanges.length).toBe(before);
  });
});

test('a provider that is away is said to be away', async () => {
  const away = await startOidc([`${CALLBACK}/away`]);
  const corp = provider(away.entry('away'));
  await away.stop();
  await expect(corp.begin(`${CALLBACK}/away`)).rejects.toMatchObject({ kind: 'unreachable' });
});
