import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from './config.ts';

const CORP = { id: 'corp', type: 'oidc', issuer: 'https://id.example.org', client_id: 'qm', client_secret: 's3cret' };
const read = (providers: unknown, env: Record<string, string> = {}) =>
  loadConfig({ IDENTITY_PROVIDERS: JSON.stringify(providers), ...env }).identityProviders;

describe('who may vouch for people', () => {
  test('nobody unless told', () => {
    expect(loadConfig({}).identityProviders).toEqual([]);
  });

  test('an issuer of OpenID Connect, with the usual scopes', () => {
    expect(read([CORP])).toEqual([
      {
        type: 'oidc',
        id: 'corp',
        name: 'corp',
        issuer: 'https://id.example.org',
        clientId: 'qm',
        clientSecret: 's3cret',
        scopes: ['openid', 'email', 'profile'],
      },
    ]);
  });

  test('GitHub needs nothing but its client; one of an own GitHub names its addresses', () => {
    const client = { id: 'github', type: 'github', client_id: 'Iv1', client_secret: 'x' };
    expect(read([client])).toMatchObject([
      {
        type: 'oauth2',
        name: 'GitHub',
        scopes: ['read:user', 'user:email'],
        subjectField: 'id',
        authorizationUrl: 'https://github.com/login/oauth/authorize',
        tokenUrl: 'https://github.com/login/oauth/access_token',
        emailsUrl: 'https://api.github.com/user/emails',
      },
    ]);
    const own = { ...client, userinfo_url: 'https://git.example.org/api/v3/user' };
    expect(read([own])).toMatchObject([{ emailsUrl: 'https://git.example.org/api/v3/user/emails' }]);
  });

  test('any server of OAuth 2 names its addresses and fields', () => {
    const urls = {
      authorization_url: 'https://a.example/authorize',
      token_url: 'https://a.example/token',
      userinfo_url: 'https://a.example/me',
    };
    const own = { id: 'own', type: 'oauth2', client_id: 'qm', ...urls, subject_field: 'uid' };
    expect(read([own])).toMatchObject([
      { subjectField: 'uid', emailField: 'email', emailVerifiedField: 'email_verified', clientSecret: null },
    ]);
  });

  test('a secret may stand in a variable, the list in a file', () => {
    expect(read([{ ...CORP, client_secret: '${CORP_SECRET}' }], { CORP_SECRET: 'of the variable' })).toMatchObject([
      { clientSecret: 'of the variable' },
    ]);
    const folder = mkdtempSync(join(tmpdir(), 'qm-test-'));
    const path = join(folder, 'providers.json');
    writeFileSync(path, JSON.stringify([CORP]));
    expect(loadConfig({ IDENTITY_PROVIDERS: path }).identityProviders).toMatchObject([{ id: 'corp' }]);
    rmSync(folder, { recursive: true });
    expect(() => loadConfig({ IDENTITY_PROVIDERS: path })).toThrow(/neither a JSON list nor a file that can be read/);
  });
});

test.each([
  [{ ...CORP, issuer: 'http://id.example.org' }, /^IDENTITY_PROVIDERS\[0\]\.issuer must be an https URL/],
  [{ ...CORP, issuer: 'https://u:p@id.example.org' }, /issuer must be an https URL without user/],
  [{ ...CORP, issuer: undefined }, /\[0\]\.issuer is missing/],
  [{ ...CORP, id: 'Corp!' }, /\[0\]\.id must have/],
  [{ ...CORP, type: 'saml' }, /\[0\]\.type must be oidc, github or oauth2/],
  [{ ...CORP, type: 'constructor' }, /\[0\]\.type must be/],
  [{ ...CORP, client_id: '' }, /\[0\]\.client_id must be a text/],
  [{ ...CORP, client_id: 'a\nb' }, /\[0\]\.client_id must be a text/],
  [{ ...CORP, client_secret: '${NOT_SET}' }, /client_secret names the variable NOT_SET, which is not set/],
  [{ ...CORP, scopes: 'openid' }, /\[0\]\.scopes must be a list/],
  [{ ...CORP, token_url: 'https://x.example' }, /\[0\] has an unknown field "token_url"/],
  [{ id: 'x', type: 'oauth2', client_id: 'y' }, /authorization_url is missing/],
  ['corp', /\[0\] must be an object/],
])('%j is refused', (provider, message) => {
  expect(() => read([provider])).toThrow(message);
});

test('http is for this machine; ids are unique; what is refused shows no secret', () => {
  expect(read([{ ...CORP, issuer: 'http://127.0.0.1:9/' }])).toHaveLength(1);
  expect(() => read([CORP, CORP])).toThrow('two providers with the id corp');
  expect(() => loadConfig({ IDENTITY_PROVIDERS: '[{"client_secret": "s3cret", ]' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('s3cret') }),
  );
});

test('the credit of a first sign-in is 2 USD unless told otherwise', () => {
  const credit = (usd?: string) => loadConfig({ SIGNUP_CREDIT_USD: usd }).signUpCreditNanos;
  expect([credit(), credit('0'), credit('1.5'), credit('0.05')]).toEqual([
    ...[2_000_000_000n, 0n, 1_500_000_000n, 50_000_000n],
  ]);
  for (const usd of ['-1', '1.234', 'two', '1e3'])
    expect(() => credit(usd)).toThrow(/^SIGNUP_CREDIT_USD must be an amount of USD/);
});
