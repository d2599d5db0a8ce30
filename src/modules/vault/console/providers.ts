// OAuth providers: where people connect accounts of theirs, by a page that is made here. Each has a page with its addresses and settings.
import { copiedBlock } from '../../../kit/console/copied.ts';
import { field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { type ResourcePage, resourcePages, settingsPage } from '../../../kit/console/resource-pages.ts';
import { facts, teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { problem } from '../../../problems/problem.ts';
import { connectStart } from '../capabilities/connect/start.ts';
import { providerRemove } from '../capabilities/provider/delete.ts';
import { providerList } from '../capabilities/provider/list.ts';
import { providerSet } from '../capabilities/provider/set.ts';
import { PROVIDERS, vaultTabs } from './connection.ts';
import { CONNECT, connect, connectForm, type Provider, providerFields, providerOf, providerPath } from './provider.ts';

/** As many as there may be. */
const PROVIDERS_MAX = 50;

export const providersPage = listPage({
  name: 'vault_providers',
  path: PROVIDERS,
  title: 'OAuth providers',
  caption: 'Providers',
  list: providerList,
  above: (visit) => vaultTabs(visit, PROVIDERS),
  intro:
    'At a provider people connect accounts of theirs. The tokens become a connection, and are refreshed ever after.',
  empty: (visit) =>
    teach(
      'No providers yet. To let people connect accounts of GitHub:',
      visit.samples([[providerSet, providerSet.examples[0]?.input ?? {}]]),
    ),
  columns: (visit) => [
    {
      title: 'Name',
      cell: ({ provider: name }) => html`<a href="${visit.path(providerPath(name))}">${short(name, 64)}</a>`,
    },
    { title: 'Address', cell: ({ issuer, authorization_url: url }) => short(issuer ?? url, 120) },
    { title: 'Client ID', cell: ({ client_id: id }) => html`<code class="breaking">${short(id, 80)}</code>` },
    { title: 'Scopes', cell: ({ scopes }) => short(scopes.join(' '), 120) },
    { title: 'Changed', cell: ({ updated_at: at }) => ago(visit, at) },
  ],
  create: {
    capability: providerSet,
    heading: 'New provider',
    intro:
      'Register a client at the provider first: it asks for the redirect URI, which the page of the new provider shows.',
    input: (form) => providerOf(form, textOf(form, 'provider')),
    done: 'Provider saved.',
    next: ({ provider }) => providerPath(provider),
    form: (visit, act) =>
      html`${field(visit, act, { name: 'provider', label: 'Name', isRequired: true, hint: 'Lower-case letters, digits, _ and -.', attributes: html`maxlength="64" spellcheck="false" autocapitalize="off"` })}
${providerFields(visit, act)}<button class="main">Save provider</button>`,
  },
});

const connectPage: ResourcePage<Provider> = {
  below: '',
  tab: 'Connect',
  show: (visit, provider) => ({ content: html`<div class="panels">${addresses(provider)}${connecting(visit)}</div>` }),
  acts: { [CONNECT]: connect },
};

function addresses({ issuer, authorization_url, token_url, client_id, scopes, redirect_uri }: Provider): Html {
  const breaking = (text: string) => html`<span class="breaking">${text}</span>`;
  return html`<section class="panel"><h2>Client</h2>${facts([
    ['Issuer', issuer === null ? null : breaking(issuer)],
    ['Sends people to', breaking(authorization_url)],
    ['Tokens from', breaking(token_url)],
    ['Client ID', breaking(client_id)],
    ['Scopes', scopes.length === 0 ? 'none' : breaking(scopes.join(' '))],
  ])}<h3>Redirect URI</h3><p>Register it at the provider.</p>
${copiedBlock(html`<pre class="text" tabindex="0" aria-label="Redirect URI">${redirect_uri}</pre>`, 'the redirect URI')}</section>`;
}

function connecting(visit: Visit): Html {
  if (!visit.may(connectStart)) return html``;
  return html`<section class="panel"><h2>Connect an account</h2><p>Makes a page for one person, good once. It names this account, the hosts and the scopes.</p>${connectForm(visit)}</section>`;
}

const settings = settingsPage<Provider>({
  capability: providerSet,
  fields: providerFields,
  input: (form, { params }) => providerOf(form, params.provider),
  done: 'Provider saved.',
});

export const providerPages = resourcePages<Provider>({
  name: 'vault_provider',
  noun: 'provider',
  path: `${PROVIDERS}/{provider}`,
  list: { title: 'OAuth providers', path: PROVIDERS },
  needs: providerList,
  read: findProvider,
  nameOf: ({ provider }) => provider,
  pages: [connectPage, settings],
  deletion: {
    capability: providerRemove,
    title: 'Delete a provider',
    warning: () => 'Nobody can be asked to connect with it any more.',
    effect: () =>
      'Nobody can be asked to connect with it any more. Connections that were made with it stay, and go on refreshing; pages to connect that are open stay good.',
  },
});

/** There is no capability for one: it is looked for in the list. Throws NOT_FOUND. */
async function findProvider(visit: Visit): Promise<Provider> {
  const { items } = await visit.need(providerList, { limit: PROVIDERS_MAX });
  const found = items.find(({ provider }) => provider === visit.params.provider);
  if (found === undefined) throw problem('NOT_FOUND');
  return found;
}
