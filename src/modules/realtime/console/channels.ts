// Channels that somebody is subscribed to, as they are now, and the way to any other one.
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { more, type Page, table, teach } from '../../../kit/console/table.ts';
import { count, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { channels as channelsList } from '../capabilities/channels.ts';
import { publish } from '../capabilities/publish.ts';
import { channelPath, realtimeTabs } from './tabs.ts';

type Channel = DataOf<typeof channelsList>['items'][number];

const ROWS = 25;
/** Who comes and goes ticks for nobody. */
const AGAIN_SECONDS = 3;

export const channelsPage: ConsolePage = {
  name: 'realtime',
  path: '/realtime',
  needs: channelsList,
  nav: { label: 'Realtime', key: 'L', group: 'reach' },
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const prefix = visit.query.get('prefix') || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(channelsList, { prefix, cursor, limit: ROWS });
  const content = html`<h1>Realtime</h1>
${realtimeTabs(visit, '/realtime')}
<form method="get" role="search" class="row"><label>Channels that begin with <input type="search" name="prefix" value="${prefix ?? ''}" spellcheck="false" autocomplete="off"></label> <button>Show</button></form>
${panel(visit, 'Channels', list, (page) => html`${rows(visit, page, prefix)}${more(visit, page)}`)}`;
  return { title: 'Realtime', content, againSeconds: AGAIN_SECONDS };
}

function rows(visit: Visit, { items }: Page<Channel>, prefix: string | undefined): Html {
  const named =
    prefix === undefined
      ? ''
      : html`<p><a href="${channelPath(visit, prefix)}">Open ${short(prefix)}</a>, occupied or not.</p>`;
  return table<Channel>({
    caption: 'Channels',
    rows: items,
    empty: html`${named}${teach(
      'No WebSocket is subscribed to a channel now. Messages are kept for streams and the history whoever listens:',
      visit.samples([[publish, { channel: 'orders', event: 'created', data: { id: 17 } }]]),
    )}`,
    columns: [
      {
        title: 'Channel',
        cell: ({ channel }) => html`<a href="${channelPath(visit, channel)}">${short(channel, 80)}</a>`,
      },
      { title: 'Subscriptions', kind: 'number', cell: ({ subscription_count: n }) => count(n) },
      { title: 'Members', kind: 'number', cell: ({ user_count: n }) => (n === null ? '' : count(n)) },
    ],
  });
}
