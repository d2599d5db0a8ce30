// The connections of the account: where each may be used, whether it works, who used it last, and a form for a new one.
import { callerName, readCallerNames } from '../../../kit/console/callers.ts';
import { field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { list } from '../capabilities/connection/list.ts';
import { set } from '../capabilities/connection/set.ts';
import { type Connection, connectionPath, kindLabels, stateOf, VAULT, vaultTabs } from './connection.ts';
import { connectionFields, connectionOf } from './fields.ts';

const HOSTS_SHOWN = 3;

export const connectionsPage = listPage({
  name: 'vault',
  path: VAULT,
  nav: { label: 'Vault', key: 'K', group: 'build' },
  title: 'Vault',
  intro:
    'A connection is a credential of another service with the rule of its use. Agents make calls with it and never see it.',
  caption: 'Connections',
  list,
  above: (visit) => vaultTabs(visit, VAULT),
  empty: firstConnection,
  async columns(visit) {
    const names = await readCallerNames(visit);
    return [
      {
        title: 'Name',
        cell: ({ connection: name }) => html`<a href="${visit.path(connectionPath(name))}">${short(name, 64)}</a>`,
      },
      { title: 'Status', cell: stateOf },
      { title: 'Kind', cell: ({ kind }) => kindLabels[kind] ?? kind },
      { title: 'Hosts', cell: hostsText },
      {
        title: 'Last used',
        cell: ({ last_used_at: at, last_used_by: by }) =>
          by === null
            ? ago(visit, at)
            : html`${ago(visit, at)} <span class="quiet">by ${short(callerName(visit, by, names), 40)}</span>`,
      },
      { title: 'Expires', cell: ({ expires_at: at }) => (at === null ? '' : ago(visit, at)) },
    ];
  },
  create: {
    capability: set,
    heading: 'New connection',
    intro: 'Choose how the service expects its credential.',
    input: (form, visit) => connectionOf(form, textOf(form, 'connection'), visit),
    done: 'Connection saved.',
    next: ({ connection }) => connectionPath(connection),
    form: async (visit, act) =>
      html`${field(visit, act, { name: 'connection', label: 'Name', isRequired: true, hint: 'Lower-case letters, digits, _ and -. Calls name it.', attributes: html`maxlength="64" spellcheck="false" autocapitalize="off"` })}
${await connectionFields(visit, act)}<button class="main">Save connection</button> <span class="quiet">$0.00002 a call; connections are free.</span>`,
  },
});

function hostsText({ hosts }: Connection): Html {
  const rest = hosts.length - HOSTS_SHOWN;
  return short(`${hosts.slice(0, HOSTS_SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`, 200);
}

/** What an account without connections is told. */
function firstConnection(visit: Visit): Html {
  const token = 'THE_TOKEN';
  const input = { connection: 'forge', kind: 'bearer', secret: token, hosts: ['api.github.com'] };
  const allow = [{ methods: ['GET', 'POST'], path: '/repos/acme/*/issues' }];
  return teach(
    'No connections yet. First store a credential, here or by a call. To let agents read and open issues with a token of GitHub:',
    visit.samples([[set, { ...input, allow }]]),
  );
}
