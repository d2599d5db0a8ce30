// Push subscriptions of a queue: addresses that its messages are sent to.

import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage } from '../../../kit/console/page.ts';
import { badge, more, type Page, table, teach } from '../../../kit/console/table.ts';
import { ago, count, countOf, short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { subscribe } from '../capabilities/subscribe.ts';
import { subscriptions } from '../capabilities/subscriptions.ts';
import { queueView } from './one.ts';

type Subscription = ItemOf<typeof subscriptions>;

export const queuePushPage: ConsolePage = {
  name: 'queue_push',
  path: '/queues/{name}/push',
  needs: subscriptions,
  isLive: true,
  show: (visit) =>
    queueView(visit, '/push', async ({ name: queue }) => {
      const cursor = visit.query.get('cursor') ?? undefined;
      const read = await visit.call(subscriptions, { queue, cursor });
      return panel(visit, 'Push subscriptions', read, (page) => html`${list(visit, queue, page)}${more(visit, page)}`);
    }),
};

function list(visit: Visit, queue: string, { items }: Page<Subscription>): Html {
  return table<Subscription>({
    caption: 'Push subscriptions',
    rows: items,
    empty: teach(
      'Programs consume this queue. To have its messages sent to a URL instead:',
      visit.samples([[subscribe, { queue, url: 'https://example.org/jobs' }]]),
    ),
    columns: [
      { title: 'URL', cell: ({ url }) => short(url, 120) },
      { title: 'Status', cell: ({ status }) => badge(status, status === 'active' ? 'good' : 'warning') },
      { title: 'ID', cell: ({ subscription_id: id }) => copiedId(id) },
      { title: 'Headers', cell: ({ headers }) => headersOf(headers) },
      { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
      { title: 'Max in flight', kind: 'number', cell: ({ max_in_flight }) => count(max_in_flight) },
      {
        title: 'Visibility timeout',
        kind: 'number',
        cell: ({ visibility_timeout: lease }) => (lease === null ? "the queue's" : `${count(lease)} s`),
      },
    ],
  });
}

function headersOf(headers: Subscription['headers']): Html {
  const names = Object.keys(headers);
  return names.length === 0
    ? html`<span class="quiet">none</span>`
    : html`<span title="${countOf(names.length, 'header')}">${short(names.join(', '), 120)}</span>`;
}
