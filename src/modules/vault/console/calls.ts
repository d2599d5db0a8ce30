// The log of calls that went out with credentials: of all connections, newest first, narrowed by the address; and its table for other pages.
import { type CallerNames, callerName, readCallerNames } from '../../../kit/console/callers.ts';
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { keyFilter } from '../../../kit/console/pick.ts';
import { badge, more, table, tabs, withQuery } from '../../../kit/console/table.ts';
import { ago, count, short, sizeText } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { calls } from '../capabilities/calls.ts';
import { CALLS, connectionPath, vaultTabs } from './connection.ts';

export type Call = ItemOf<typeof calls>;

const ROWS = 50;
/** While a call is under way: its end tells no tick. */
const AGAIN_SECONDS = 3;
const outcomes = [
  ['answered', 'Answered'],
  ['failed', 'Failed'],
  ['under_way', 'Under way'],
] as const;

export const callsPage: ConsolePage = {
  name: 'vault_calls',
  path: CALLS,
  needs: calls,
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const filterOf = (name: string) => visit.query.get(name)?.trim() || undefined;
  const outcome = outcomes.find(([name]) => name === filterOf('outcome'))?.[0];
  const [connection, keyId] = [filterOf('connection'), filterOf('key_id')];
  const [read, names] = await Promise.all([
    visit.call(calls, { connection, key_id: keyId, outcome, cursor: filterOf('cursor'), limit: ROWS }),
    readCallerNames(visit),
  ]);
  const isNarrowed = [outcome, connection, keyId].some((each) => each !== undefined);
  const empty = isNarrowed
    ? html`<p>Nothing matches. <a href="${visit.path(CALLS)}">Clear the filters</a></p>`
    : html`<p>No calls in the last 30 days.</p>`;
  const content = html`<h1>Calls with credentials</h1>
${vaultTabs(visit, CALLS)}
<p>What went out in the last 30 days, by every way in. Queries, headers and bodies are not kept.</p>
${outcomeTabs(visit, outcome)}
<form method="get" class="row" role="search" aria-label="Filter calls">${outcome === undefined ? '' : html`<input type="hidden" name="outcome" value="${outcome}">`}<label>Connection <input type="search" name="connection" value="${connection ?? ''}" spellcheck="false" autocapitalize="off"></label> ${keyFilter([...names], keyId)} <button>Filter</button></form>
${panel(visit, 'Calls', read, (page) => html`${callTable(visit, page.items, { names, empty, isOfOne: false })}${more(visit, page)}`)}`;
  const isUnderWay = read.data?.items.some(isOpen) === true;
  return { title: 'Calls with credentials', content, againSeconds: isUnderWay ? AGAIN_SECONDS : undefined };
}

function outcomeTabs(visit: Visit, here: string | undefined): Html {
  return tabs(
    'Outcome',
    [[undefined, 'All'] as const, ...outcomes].map(([name, text]) => ({
      text,
      href: withQuery(visit, { outcome: name ?? null, cursor: null }),
      isHere: name === here,
    })),
  );
}

interface Shown {
  readonly names: CallerNames;
  readonly empty: Html;
  /** On the page of their connection, which they need not name. */
  readonly isOfOne: boolean;
}

export function callTable(visit: Visit, rows: readonly Call[], { names, empty, isOfOne }: Shown): Html {
  const connectionOf = ({ connection: name }: Call) =>
    html`<a href="${visit.path(connectionPath(name))}">${short(name, 64)}</a>`;
  return table<Call>({
    caption: 'Calls',
    rows,
    empty,
    columns: [
      {
        title: 'Call',
        cell: ({ method, host, path }) => html`${method} <span class="breaking">${short(`${host}${path}`, 160)}</span>`,
      },
      { title: 'Outcome', cell: outcomeOf },
      ...(isOfOne ? [] : [{ title: 'Connection', cell: connectionOf }]),
      { title: 'By', cell: ({ key_id: id }) => short(callerName(visit, id, names), 60) },
      {
        title: 'Duration',
        kind: 'number',
        cell: ({ latency_ms: ms }) => (ms === null ? '' : `${count(ms)} ms`),
      },
      { title: 'Sent', kind: 'number', cell: ({ bytes_out: bytes }) => (bytes === 0 ? '' : sizeText(bytes)) },
      { title: 'Received', kind: 'number', cell: ({ bytes_in: bytes }) => (bytes === 0 ? '' : sizeText(bytes)) },
      { title: 'When', cell: ({ at }) => ago(visit, at) },
    ],
  });
}

export function isOpen({ status, code, latency_ms: ms }: Call): boolean {
  return status === null && code === null && ms === null;
}

/** What the target answered, or why it did not. */
function outcomeOf(call: Call): Html {
  const { status, code } = call;
  if (code !== null) return badge(status === null ? code : `${status} ${code}`, 'critical');
  return status === null ? badge('under way', 'plain') : statusBadge(status);
}

export function statusBadge(status: number): Html {
  return badge(String(status), status < 400 ? 'good' : status < 500 ? 'warning' : 'critical');
}
