// Shared parts of the pages of OAuth providers: addresses, the form of a provider, and the form that makes a page on which a person connects.
import { copiedSecret } from '../../../kit/console/copied.ts';
import { actForm, choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { type Act, actOf } from '../../../kit/console/page.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { Input, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { connectStart } from '../capabilities/connect/start.ts';
import type { providerList } from '../capabilities/provider/list.ts';
import { connectionPath, PROVIDERS } from './connection.ts';
import { ALLOW_HINT, allowOf, HOSTS_HINT, linesOf } from './fields.ts';

export type Provider = ItemOf<typeof providerList>;

export const CONNECT = 'connect';
const lifetimes = [
  ['600', '10 minutes'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
] as const;
const plain = html`spellcheck="false" autocapitalize="off" autocomplete="off"`;

export function providerPath(name: string): string {
  return `${PROVIDERS}/${encodeURIComponent(name)}`;
}

/** All but the name. */
export function providerFields(visit: Visit, act: string, provider?: Provider): Html {
  const { issuer = null, authorization_url: authorization = '', token_url: token = '' } = provider ?? {};
  // Those of an issuer come from its own document.
  const [at, from] = issuer === null ? [authorization, token] : ['', ''];
  const secretHint =
    provider === undefined
      ? 'It is encrypted, and never shown again. Empty: the client has none.'
      : 'Empty: it stays. Type it to change addresses, client ID or how the client shows itself.';
  return html`${field(visit, act, { name: 'issuer', label: 'Issuer', value: issuer ?? '', hint: 'Its own document names the addresses: https://accounts.example.com.', attributes: plain })}
<div class="pair">${field(visit, act, { name: 'authorization_url', label: 'Or authorization URL', value: at, hint: 'Where a person is sent.', attributes: plain })}
${field(visit, act, { name: 'token_url', label: 'And token URL', value: from, hint: 'Where tokens come from.', attributes: plain })}</div>
${field(visit, act, { name: 'client_id', label: 'Client ID', value: provider?.client_id ?? '', isRequired: true, attributes: plain })}
${field(visit, act, { name: 'client_secret', label: 'Client secret', isSecret: true, hint: secretHint })}
${field(visit, act, { name: 'scopes', label: 'Scopes', value: (provider?.scopes ?? []).join(' '), hint: 'Separated by spaces; offline_access where the provider wants it for a refresh.', attributes: plain })}
${choice(visit, act, {
  name: 'auth',
  label: 'The client shows itself by',
  value: provider?.auth ?? 'post',
  options: [
    ['post', 'fields of the request'],
    ['basic', 'Basic'],
    ['none', 'its ID alone'],
  ],
})}
`;
}

/** The input of vault.provider.set. */
export function providerOf(form: URLSearchParams, name: string | undefined): Input {
  return {
    provider: name,
    issuer: textOf(form, 'issuer'),
    authorization_url: textOf(form, 'authorization_url'),
    token_url: textOf(form, 'token_url'),
    client_id: textOf(form, 'client_id'),
    client_secret: textOf(form, 'client_secret'),
    scopes: textOf(form, 'scopes')?.split(/[\s,]+/) ?? [],
    auth: textOf(form, 'auth'),
  };
}

/** Whoever has the address of the page may connect an account of theirs, so it is shown once. */
export const connect: Act = actOf({
  capability: connectStart,
  input: (form, { params }) => ({
    connection: textOf(form, 'connection'),
    provider: params.provider,
    hosts: linesOf(form, 'hosts'),
    allow: allowOf(form),
    expires_seconds: numberOf(form, 'expires_seconds'),
  }),
  done: 'Page made.',
  answerView({ connection, url, expires_at: end }, visit) {
    const content = html`<h1>Page to connect ${short(connection, 64)}</h1>
<p>Hand this address to the person whose account it is. Whoever has it may connect one, once; it ends ${ago(visit, end)}.</p>
${copiedSecret(url, 'The address')}
<p><a href="${visit.path(connectionPath(connection))}">Open the connection</a></p>`;
    return { title: 'Page to connect', content };
  },
});

export function connectForm(visit: Visit): Html {
  return actForm(
    visit,
    CONNECT,
    html`${field(visit, CONNECT, { name: 'connection', label: 'Connection', value: visit.query.get('connection') ?? '', isRequired: true, hint: 'Its name: a new one, or one that is connected anew.', attributes: html`maxlength="64" ${plain}` })}
${field(visit, CONNECT, { name: 'hosts', label: 'Hosts', rows: 2, isRequired: true, hint: HOSTS_HINT })}
${field(visit, CONNECT, { name: 'allow', label: 'Allowed calls', rows: 4, hint: ALLOW_HINT })}
${choice(visit, CONNECT, { name: 'expires_seconds', label: 'The page is good for', value: '600', options: lifetimes })}
<button class="main">Make the page</button>`,
  );
}
