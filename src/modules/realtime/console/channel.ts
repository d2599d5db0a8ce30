// One channel, to debug with: who is in it, what is published to it as it comes, and a form that publishes.
import { panel } from '../../../kit/console/failure.ts';
import { actForm, field, jsonTextOf, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { table, teach } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { history as channelHistory } from '../capabilities/history.ts';
import { members as channelMembers } from '../capabilities/members.ts';
import { publish as channelPublish } from '../capabilities/publish.ts';
import { realtimeTabs } from './tabs.ts';

type Message = DataOf<typeof channelHistory>['items'][number];
type Member = DataOf<typeof channelMembers>['items'][number];

const PUBLISH = 'publish';
const ROWS = 100;
const DATA_CHARACTERS = 400;
/** Deliveries tick for nobody. */
const AGAIN_SECONDS = 1;

const publish: Act = {
  capability: channelPublish,
  input(form, { params }) {
    const fields = JSON.stringify({ channel: params.channel, event: textOf(form, 'event') });
    // As it was typed, digit by digit.
    return new JsonText(`${fields.slice(0, -1)},"data":${jsonTextOf(form, 'data')}}`);
  },
  done: 'Event published.',
};

export const channelPage: ConsolePage = {
  name: 'realtime_channel',
  path: '/realtime/channels/{channel}',
  needs: channelHistory,
  isLive: true,
  show,
  acts: { [PUBLISH]: publish },
};

async function show(visit: Visit): Promise<View> {
  const { channel = '' } = visit.params;
  const isPresence = channel.startsWith('presence-');
  const [messages, members] = await Promise.all([
    visit.call(channelHistory, { channel, limit: ROWS }),
    isPresence && visit.may(channelMembers) ? visit.call(channelMembers, { channel }) : null,
  ]);
  const form = visit.may(channelPublish) ? html`<h2>Publish</h2>${publishForm(visit)}` : '';
  const content = html`<h1>${short(channel, 80)}</h1>
${realtimeTabs(visit, '/realtime')}
${form}
${panel(visit, 'Messages', messages, ({ items, has_more: hasMore }) => messageTable(visit, items, hasMore))}
${members === null ? '' : panel(visit, 'Members', members, ({ items }) => memberTable(items))}`;
  return { title: channel, content, againSeconds: AGAIN_SECONDS };
}

function publishForm(visit: Visit): Html {
  const event = {
    name: 'event',
    label: 'Event',
    value: 'message',
    isRequired: true,
    attributes: html`spellcheck="false"`,
  };
  const data = { name: 'data', label: 'Data (JSON)', value: '{"hello": "world"}', rows: 3, isRequired: true };
  return actForm(
    visit,
    PUBLISH,
    html`${field(visit, PUBLISH, event)}${field(visit, PUBLISH, data)}<button class="main">Publish</button> <span class="quiet">$0.000002</span>`,
  );
}

function messageTable(visit: Visit, items: readonly Message[], hasMore: boolean): Html {
  const note = hasMore ? html`<p class="quiet">The oldest ${ROWS} of the history; there are further ones.</p>` : '';
  return html`${note}${table<Message>({
    caption: 'Messages, the newest first',
    rows: items.toReversed(),
    empty: teach(
      'Nothing was published that the history still holds. To publish:',
      visit.samples([[channelPublish, { channel: visit.params.channel, event: 'message', data: { hello: 'world' } }]]),
    ),
    columns: [
      { title: 'Time', cell: ({ published_at: at }) => time(visit, at) },
      { title: 'Event', cell: ({ event }) => short(event, 60) },
      { title: 'Data', cell: ({ data }) => html`<code>${short(JSON.stringify(data), DATA_CHARACTERS)}</code>` },
      { title: 'From', cell: ({ user_id: user }) => (user === null || user === undefined ? '' : short(user, 40)) },
    ],
  })}`;
}

function memberTable(items: readonly Member[]): Html {
  return table<Member>({
    caption: 'Members',
    rows: items,
    empty: html`<p>Nobody is in the channel.</p>`,
    columns: [
      { title: 'User', cell: ({ user_id: user }) => short(user, 80) },
      {
        title: 'Info',
        cell: ({ user_info: info }) => html`<code>${short(JSON.stringify(info ?? null), DATA_CHARACTERS)}</code>`,
      },
    ],
  });
}
