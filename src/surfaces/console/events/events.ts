// What was told: the events of the account, which webhooks receive, newest first.
import { type Html, html } from '../../../lib/html.ts';
import type { ConsolePage, View } from '../page.ts';
import { panel } from '../parts/failure.ts';
import { periodControl, periodFields, periodOf } from '../parts/period.ts';
import { more, type Page, table, teach } from '../parts/table.ts';
import { payload, time } from '../parts/text.ts';
import type { Visit } from '../visit.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly sequence: number;
  readonly data: unknown;
}

const ROWS = 25;

export const eventsPage: ConsolePage = {
  name: 'events',
  path: '/events',
  needs: 'account.events.list',
  nav: { label: 'Events', key: 't' },
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const period = periodOf(visit, '30d');
  const type = visit.query.get('type') || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const { from, to } = period;
  const list = await visit.call<Page<Event>>('account.events.list', { type, from, to, cursor, limit: ROWS });
  const content = html`<h1>Events</h1>
${periodControl(visit, period)}
<form method="get" class="row">${periodFields(visit)}<label>Type <input type="search" name="type" value="${type ?? ''}" placeholder="wallet.low_balance"></label> <button>Filter</button></form>
${panel(visit, 'Newest first', list, (page) => events(visit, page))}`;
  return { title: 'Events', content };
}

function events(visit: Visit, page: Page<Event>): Html {
  return html`${table({
    caption: 'Events',
    rows: page.items,
    empty: teach(
      'Nothing was told in this time. Webhooks and this page tell the same:',
      `curl -sS -X POST ${visit.baseUrl}/v1/account/webhooks/register -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '{"url":"https://example.com/hook","events":["*"]}'`,
    ),
    columns: [
      { title: 'Type', cell: ({ type }) => type },
      { title: 'When', cell: ({ timestamp }) => time(visit, timestamp) },
      { title: 'Sequence', kind: 'number', cell: ({ sequence }) => String(sequence) },
      {
        title: 'Data',
        cell: ({ id, type, data }) =>
          html`<details id="${id}"><summary>Data<span class="unseen"> of ${type} ${id}</span></summary>${payload(data, `Data of ${type} ${id}`, { call: 'account.events.list' })}</details>`,
      },
    ],
  })}${more(visit, page)}`;
}
