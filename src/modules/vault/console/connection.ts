// Shared parts of the vault's pages: addresses, tabs, states, and a connection's rule in words.
import { type CallerNames, callerName } from '../../../kit/console/callers.ts';
import { badge, pageTabs } from '../../../kit/console/table.ts';
import { countOf } from '../../../kit/console/text.ts';
import type { Callable, DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { calls } from '../capabilities/calls.ts';
import type { get } from '../capabilities/connection/get.ts';
import { list } from '../capabilities/connection/list.ts';
import { providerList } from '../capabilities/provider/list.ts';

export type Connection = DataOf<typeof get>;

export const VAULT = '/vault';
export const CALLS = '/vault/calls';
export const PROVIDERS = '/vault/providers';

export function connectionPath(name: string): string {
  return `${VAULT}/connections/${encodeURIComponent(name)}`;
}

const tabs: readonly (readonly [text: string, path: string, needs: Callable])[] = [
  ['Connections', VAULT, list],
  ['Calls', CALLS, calls],
  ['Providers', PROVIDERS, providerList],
];

/** Those that the visitor may see. */
export function vaultTabs(visit: Visit, here: string): Html {
  const shown = tabs.filter(([, , needs]) => visit.may(needs));
  return pageTabs(
    'Pages of the vault',
    shown.map(([text, path]) => ({ text, href: visit.path(path), isHere: path === here })),
  );
}

const colours = { ready: 'good', pending: 'warning', broken: 'critical', expired: 'plain' } as const;

export function stateOf({ status }: Pick<Connection, 'status'>): Html {
  return badge(status, colours[status as keyof typeof colours]);
}

export const kindLabels: Readonly<Record<string, string>> = {
  bearer: 'Bearer token',
  header: 'Key in a header',
  query: 'Key in the query',
  basic: 'User and password',
  sigv4: 'AWS signature',
  client_credentials: 'OAuth client',
  oauth2: 'OAuth tokens',
};

/** How the target is shown the credential. */
export function shownAs({ kind, field }: Pick<Connection, 'kind' | 'field'>): Html {
  switch (kind) {
    case 'header':
      return html`the header <code>${field ?? ''}</code>`;
    case 'query':
      return html`the query parameter <code>${field ?? ''}</code>`;
    case 'basic':
      return html`user and password (Basic)`;
    case 'sigv4':
      return html`an AWS signature of each request`;
    default:
      return html`a bearer token`;
  }
}

/** `GET, POST of /repos/…`, a line each. */
export function allowLines({ allow }: Pick<Connection, 'allow'>): Html {
  if (allow === null) return html`every method and path`;
  return html`${allow.map(({ methods, path }) => html`<div>${methodsText(methods)} of <code class="breaking">${path}</code></div>`)}`;
}

export function methodsText(methods: readonly string[]): string {
  return methods.includes('*') ? 'every method' : methods.join(', ');
}

/** Who may use it. */
export function keysText(visit: Visit, { keys }: Pick<Connection, 'keys'>, names: CallerNames): string {
  return keys === null
    ? 'every key with the scope vault.call'
    : keys.map((id) => callerName(visit, id, names)).join(', ');
}

export function limitsText({ limits: { per_minute: minute, per_day: day } }: Pick<Connection, 'limits'>): string {
  const parts = [
    minute === null ? '' : `${countOf(minute, 'call')} a minute`,
    day === null ? '' : `${countOf(day, 'call')} a day (UTC)`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'no limit' : parts.join(', ');
}
