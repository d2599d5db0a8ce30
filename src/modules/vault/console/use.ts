// The first page of a connection: what it may be used for, in words; why it does not work; a call to try it; the ways in as samples; its calls.
import { type CallerNames, callerName, readCallerNames } from '../../../kit/console/callers.ts';
import { codeBlock, copiedBlock } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import type { ResourcePage } from '../../../kit/console/resource-pages.ts';
import { facts } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { Callable, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { call } from '../capabilities/call.ts';
import { calls } from '../capabilities/calls.ts';
import { connectStart } from '../capabilities/connect/start.ts';
import { set } from '../capabilities/connection/set.ts';
import { callTable, isOpen } from './calls.ts';
import {
  allowLines,
  CALLS,
  type Connection,
  connectionPath,
  keysText,
  limitsText,
  methodsText,
  shownAs,
} from './connection.ts';
import { providerPath } from './provider.ts';
import { TRY, tryCall, tryForm } from './try.ts';

const ROWS = 10;
const AGAIN_SECONDS = 3;
/** Where the deployment has a proxy. */
const proxy: Callable = { id: 'vault.proxy' };

export const usePage: ResourcePage<Connection> = {
  below: '',
  tab: 'Use',
  isLive: true,
  show,
  acts: { [TRY]: tryCall },
};

async function show(visit: Visit, connection: Connection) {
  const { connection: name, status } = connection;
  const [names, read, hasProxy] = await Promise.all([
    readCallerNames(visit),
    visit.may(calls) ? visit.call(calls, { connection: name, limit: ROWS }) : null,
    proxyIsOpen(visit),
  ]);
  const all = html`<a href="${visit.path(`${CALLS}?connection=${encodeURIComponent(name)}`)}">All calls</a>`;
  const log =
    read === null
      ? ''
      : panel(
          visit,
          'Last calls',
          read,
          ({ items }) =>
            html`${callTable(visit, items, { names, empty: html`<p>No calls yet.</p>`, isOfOne: true })}${items.length < ROWS ? '' : html`<p>${all}</p>`}`,
        );
  const trial =
    visit.may(call) && status === 'ready'
      ? html`<section class="panel"><h2>Try it</h2>${tryForm(visit)}</section>`
      : '';
  const content = html`${whyNot(visit, connection)}
<div class="panels"><section class="panel"><h2>Rule</h2>${ruleFacts(visit, connection, names)}</section>${trial}</div>
${log}
${waysIn(visit, connection, hasProxy)}`;
  const isUnderWay = read?.data?.items.some(isOpen) === true;
  return { content, againSeconds: isUnderWay ? AGAIN_SECONDS : undefined };
}

/** Why it cannot be used, and what mends that. */
function whyNot(visit: Visit, connection: Connection): Html {
  const { connection: name, status, broken_reason: reason, expires_at: at, provider } = connection;
  const anew =
    provider !== null && visit.may(connectStart)
      ? html` <a href="${visit.path(`${providerPath(provider)}?connection=${encodeURIComponent(name)}`)}">Make a page to connect it</a>`
      : '';
  const settings =
    anew !== ''
      ? anew
      : visit.may(set)
        ? html` <a href="${visit.path(`${connectionPath(name)}/settings`)}">Set its secret anew</a>`
        : '';
  switch (status) {
    case 'broken':
      return html`<p class="notice">Calls are refused: ${short(reason ?? 'its credential was refused', 500)}.${settings}</p>`;
    case 'pending':
      return html`<p class="notice">Calls are refused: nobody has connected it yet.${anew}</p>`;
    case 'expired':
      return html`<p class="notice">Calls are refused: it expired ${ago(visit, at)}.${settings}</p>`;
    default:
      return html``;
  }
}

/** The rule in words. */
export function ruleFacts(visit: Visit, connection: Connection, names: CallerNames): Html {
  const { hosts, approve, headers, notify, provider, expires_at: end, token_ends_at: tokenEnd } = connection;
  const { last_used_at: usedAt, last_used_by: usedBy } = connection;
  return facts([
    ['May call', allowLines(connection)],
    ['At', html`${hosts.map((host) => html`<div><code class="breaking">${host}</code></div>`)}`],
    ['By', short(keysText(visit, connection, names), 500)],
    ['At most', limitsText(connection)],
    ['A person approves', approve.length === 0 ? 'nothing' : methodsText(approve)],
    ['Credential', shownAs(connection)],
    ['Adds headers', headers.length === 0 ? null : headers.join(', ')],
    ['Connected at', provider],
    ['Access token', tokenEnd === null ? null : html`ends ${ago(visit, tokenEnd)}`],
    ['Expires', ago(visit, end)],
    ['Tells queue', notify === null ? null : html`<code>${notify.queue}</code>, when it breaks`],
    [
      'Last used',
      usedBy === null
        ? ago(visit, usedAt)
        : html`${ago(visit, usedAt)} by ${short(callerName(visit, usedBy, names), 60)}`,
    ],
  ]);
}

async function proxyIsOpen(visit: Visit): Promise<boolean> {
  return visit.may(proxy) && (await visit.call(proxy)).problem === null;
}

function waysIn(visit: Visit, { connection: name, hosts }: Connection, hasProxy: boolean): Html {
  const host = hosts.find((each) => !each.startsWith('*'));
  const url = host === undefined ? `https://${hosts[0]?.replace('*', 'api')}/` : '/';
  const base = `${visit.baseUrl}/v1/vault/to/${name}`;
  const byPath =
    host === undefined
      ? html`<p class="quiet">Needs a host that is a name without *.</p>`
      : html`<p>Give an SDK of the service this base address, and your Quartermaster key in place of its own.</p>
${shell(base, 'the base address')}
${shell(`curl -sS '${base}/' \\\n  -H "Authorization: Bearer $QM_KEY"`, 'the command')}`;
  const byProxy = hasProxy
    ? html`<h3>By proxy</h3><p>Programs run unchanged: the proxy puts the credential in.</p>
${shell(`qm run -- curl -sS https://${host ?? `api${hosts[0]?.slice(1)}`}/`, 'the command')}`
    : '';
  return html`<section class="panel"><h2>Ways in</h2>
<h3>By a call</h3>${codeBlock('by-call', visit.samples([[call, { connection: name, url }]]))}
<h3>By path</h3>${byPath}
${byProxy}</section>`;
}

function shell(text: string, what: string): Html {
  return copiedBlock(html`<pre class="text" tabindex="0" aria-label="${what}">${text}</pre>`, what);
}
