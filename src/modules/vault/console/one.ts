// The pages of a connection: its rule in words with the ways to use it and its last calls, what can be changed, and its end.
import { readCallerNames } from '../../../kit/console/callers.ts';
import { resourcePages, settingsPage } from '../../../kit/console/resource-pages.ts';
import { ago, countOf } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { calls } from '../capabilities/calls.ts';
import { remove } from '../capabilities/connection/delete.ts';
import { get } from '../capabilities/connection/get.ts';
import { set } from '../capabilities/connection/set.ts';
import { type Connection, kindLabels, stateOf, VAULT } from './connection.ts';
import { connectionFields, connectionOf } from './fields.ts';
import { ruleFacts, usePage } from './use.ts';

/** The page of its end counts no more calls than one call answers. */
const COUNTED_MAX = 100;

const settings = settingsPage<Connection>({
  capability: set,
  fields: connectionFields,
  input: (form, visit) => connectionOf(form, visit.params.connection, visit),
  done: 'Connection saved.',
  facts: (visit, connection) => ruleFacts(visit, connection, new Map()),
});

export const connectionPages = resourcePages<Connection>({
  name: 'vault_connection',
  noun: 'connection',
  path: `${VAULT}/connections/{connection}`,
  list: { title: 'Vault', path: VAULT },
  needs: get,
  read: (visit) => visit.need(get, { connection: visit.params.connection }),
  nameOf: ({ connection }) => connection,
  badge: (_, connection) => stateOf(connection),
  about,
  pages: [usePage, settings],
  deletion: {
    capability: remove,
    title: 'Delete a connection',
    warning: () => 'Its secret is gone at once, and programs that use it are refused.',
    effect: async (visit, connection) => [
      'Its secret is gone at once, and cannot be brought back. If others may know it, revoke it at the service as well.',
      await ofLastDay(visit, connection),
    ],
  },
});

function about(visit: Visit, { kind, fingerprint, version, created_at, updated_at }: Connection): Html {
  const print = fingerprint === null ? '' : html` · fingerprint <code>${fingerprint}</code>`;
  return html`<p class="quiet">${kindLabels[kind] ?? kind}${print} · created ${ago(visit, created_at)} · version ${String(version)}, ${ago(visit, updated_at)}</p>`;
}

/** How often it was used is how often it will be missed. */
async function ofLastDay(visit: Visit, { connection, last_used_at: at }: Connection): Promise<Html | string> {
  if (at === null) return 'It was never used.';
  if (!visit.may(calls)) return html`It was last used ${ago(visit, at)}.`;
  const [{ items, next_cursor: next }, names] = await Promise.all([
    visit.need(calls, { connection, limit: COUNTED_MAX }),
    readCallerNames(visit),
  ]);
  const day = items.filter((call) => Date.parse(call.at) > visit.nowMs - DAY_MS);
  const callers = [...new Set(day.map(({ key_id: id }) => names.get(id) ?? id))];
  const told =
    day.length === items.length && next !== null ? `${day.length} calls or more` : countOf(day.length, 'call');
  const by = callers.length === 0 ? '' : `, by ${callers.join(', ')}`;
  return `It made ${told} in the last 24 hours${by}. The log of its calls stays for 30 days.`;
}
