// Plain OAuth 2, as at GitHub: the user is read from the provider with the access token. There is no ID token, so nothing is signed.
// Providers are kept apart by a callback of their own (RFC 9700, section 4.4.2).
import * as openid from 'openid-client';
import type { OutboundClient } from '../http/port.ts';
import { codeFlow, nameOf, subjectOf, verifiedEmailOf } from './code-flow.ts';
import { guardedFetch, REQUEST_MS } from './guarded-fetch.ts';
import { IdentityError, type IdentityProvider, type ProvenIdentity } from './port.ts';

export interface OAuth2Client {
  readonly id: string;
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly userinfoUrl: string;
  /** Where a list of {email, primary, verified} stands; null: the address is in the answer of `userinfoUrl`. */
  readonly emailsUrl: string | null;
  readonly subjectField: string;
  readonly emailField: string;
  readonly emailVerifiedField: string;
}

export function oauth2Provider(client: OAuth2Client, outbound: Pick<OutboundClient, 'send'>): IdentityProvider {
  const { id, name, scopes } = client;
  const configuration = configure(client, outbound);
  const provider = codeFlow({
    id,
    name,
    scopes,
    hasIdToken: false,
    configuration: () => Promise.resolve(configuration),
    whoIs: (_, { access_token: token }) => whoIs(client, (url) => readResource(configuration, token, url)),
  });
  // Nobody told us its issuer, so its name in the callback can be compared with nothing.
  return { ...provider, finish: (callback, checks) => provider.finish(without(callback, 'iss'), checks) };
}

function configure(client: OAuth2Client, outbound: Pick<OutboundClient, 'send'>): openid.Configuration {
  const { authorizationUrl, tokenUrl, userinfoUrl, emailsUrl, clientSecret } = client;
  const server = {
    issuer: new URL(tokenUrl).origin,
    authorization_endpoint: authorizationUrl,
    token_endpoint: tokenUrl,
  };
  const authentication = clientSecret === null ? openid.None() : openid.ClientSecretPost(clientSecret);
  const configuration = new openid.Configuration(server, client.clientId, undefined, authentication);
  const asked = [tokenUrl, userinfoUrl, ...(emailsUrl === null ? [] : [emailsUrl])].map((url) => new URL(url));
  configuration[openid.customFetch] = guardedFetch(
    outbound,
    asked.map(({ origin }) => origin),
  );
  configuration.timeout = REQUEST_MS / 1_000;
  // The settings have http on this machine only.
  if (asked.some(({ protocol }) => protocol === 'http:')) openid.allowInsecureRequests(configuration);
  return configuration;
}

async function whoIs(client: OAuth2Client, ask: (url: string) => Promise<unknown>): Promise<ProvenIdentity> {
  const told = await ask(client.userinfoUrl);
  if (!isRecord(told)) throw new IdentityError('invalid', `${client.userinfoUrl} answered no object`);
  const own = verifiedEmailOf(told[client.emailField], told[client.emailVerifiedField]);
  return {
    issuer: client.userinfoUrl,
    subject: subjectOf(told[client.subjectField]),
    verifiedEmail: client.emailsUrl === null ? own : bestEmail(await ask(client.emailsUrl)),
    name: nameOf(told.name ?? told.login),
  };
}

function bestEmail(list: unknown): string | null {
  const entries = Array.isArray(list) ? list.filter(isRecord) : [];
  const first = entries.filter(({ primary }) => primary === true);
  const verified = [...first, ...entries].map((entry) => verifiedEmailOf(entry.email, entry.verified));
  return verified.find((email) => email !== null) ?? null;
}

async function readResource(configuration: openid.Configuration, token: string, url: string): Promise<unknown> {
  const headers = new Headers({ accept: 'application/json' });
  const answer = await openid.fetchProtectedResource(configuration, token, new URL(url), 'GET', null, headers);
  if (answer.status !== 200) throw new IdentityError('invalid', `${url} answered ${answer.status}`);
  return answer.json();
}

function without(url: URL, parameter: string): URL {
  const changed = new URL(url);
  changed.searchParams.delete(parameter);
  return changed;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
