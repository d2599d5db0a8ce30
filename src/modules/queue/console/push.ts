// Push subscriptions of a queue: URLs that its messages are sent to. The secret of a new one is shown once.

import { copiedId, copiedSecret } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { field, numberOf, textOf } from '../../../kit/console/form.ts';
import { type NewForm, newLink } from '../../../kit/console/new.ts';
import { actOf, type View } from '../../../kit/console/page.ts';
import type { ResourcePage } from '../../../kit/console/resource-pages.ts';
import { badge, more, type Page, table, teach } from '../../../kit/console/table.ts';
import { ago, count, countOf, short } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { subscribe } from '../capabilities/subscribe.ts';
import { subscriptions } from '../capabilities/subscriptions.ts';
import { queuePath, type Standing } from './queue.ts';

type Subscription = ItemOf<typeof subscriptions>;

const newSubscription: NewForm = {
  act: 'subscribe',
  heading: 'New subscription',
  capability: subscribe,
  form: subscribeForm,
  intro: 'Each message is sent to the URL as a signed POST. An answer 2xx in time acknowledges it.',
};

export const pushPage: ResourcePage<Standing> = {
  below: '/push',
  tab: 'Push',
  needs: subscriptions,
  isLive: true,
  newForm: newSubscription,
  show,
  acts: {
    [newSubscription.act]: actOf({
      capability: subscribe,
      input: (form, { params }) => ({
        queue: params.name,
        url: textOf(form, 'url'),
        max_in_flight: numberOf(form, 'max_in_flight'),
        visibility_timeout: numberOf(form, 'visibility_timeout'),
        timeout_seconds: numberOf(form, 'timeout_seconds'),
      }),
      done: 'Subscription created.',
      answerView: secretPage,
    }),
  },
};

async function show(visit: Visit, { queue: { name: queue } }: Standing) {
  const cursor = visit.query.get('cursor') ?? undefined;
  const read = await visit.call(subscriptions, { queue, cursor });
  const link = newLink(visit, newSubscription);
  const button = link === undefined ? '' : html`<p>${link}</p>`;
  const content = panel(
    visit,
    'Push subscriptions',
    read,
    (page) => html`${list(visit, queue, page)}${more(visit, page)}${button}`,
  );
  return { content };
}

function subscribeForm(visit: Visit, act: string): Html {
  const [plain, numeric] = [
    html`inputmode="url" spellcheck="false" placeholder="https://example.org/hook"`,
    html`inputmode="numeric"`,
  ];
  return html`${field(visit, act, { name: 'url', label: 'URL', isRequired: true, attributes: plain })}
<div class="pair">${field(visit, act, { name: 'max_in_flight', label: 'Max in flight', value: '1', attributes: numeric, hint: 'Requests at once, 1 to 10.' })}
${field(visit, act, { name: 'visibility_timeout', label: 'Visibility timeout (s)', attributes: numeric, hint: "Empty: the queue's own." })}
${field(visit, act, { name: 'timeout_seconds', label: 'Timeout (s)', value: '15', attributes: numeric, hint: 'How long an answer may take, 1 to 900.' })}</div>
<button class="main">Create subscription</button>`;
}

function secretPage({ url, secret }: DataOf<typeof subscribe>, visit: Visit): View {
  const content = html`<h1>Signing secret</h1>
<p>Copy it now: it is shown only once. Messages sent to ${short(url, 120)} are signed with it.</p>
${copiedSecret(secret)}
<p><a href="${visit.path(`${queuePath(visit.params.name ?? '')}/push`)}">Open the subscriptions</a></p>`;
  return { title: 'Signing secret', content };
}

function list(visit: Visit, queue: string, { items }: Page<Subscription>): Html {
  return table<Subscription>({
    caption: 'Push subscriptions',
    rows: items,
    empty: teach(
      'Programs consume this queue. To have its messages sent to a URL instead:',
      visit.samples([[subscribe, { queue, url: 'https://example.org/hook' }]]),
    ),
    columns: [
      { title: 'URL', cell: ({ url }) => short(url, 120) },
      { title: 'Status', cell: ({ status }) => badge(status, status === 'active' ? 'good' : 'warning') },
      { title: 'ID', cell: ({ subscription_id: id }) => copiedId(id) },
      { title: 'Headers', cell: ({ headers }) => headersOf(headers) },
      { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
      { title: 'Max in flight', kind: 'number', cell: ({ max_in_flight }) => count(max_in_flight) },
      { title: 'Timeout', kind: 'number', cell: ({ timeout_seconds: seconds }) => `${count(seconds)} s` },
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
