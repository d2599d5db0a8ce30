// What was told: the events of the account, which webhooks receive, newest first.

import { panel } from '../../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../../kit/console/page.ts';
import { periodControl, periodFields, periodOf } from '../../../../kit/console/period.ts';
import { more, type Page, table, teach } from '../../../../kit/console/table.ts';
import { payload, time } from '../../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { eventsList } from '../../capabilities/events-list.ts';

type Event = ItemOf<typeof eventsList>;

const ROWS = 25;

export const eventsPage: ConsolePage = {
  name: 'events',
  path: '/events',
  needs: eventsList,
  nav: { label: 'Events', key: 't', group: 'observe' },
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const period = periodOf(visit, '30d');
  const type = visit.query.get('type') || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const { from, to } = period;
  const list = await visit.call(eventsList, { type, from, to, cursor, limit: ROWS });
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
