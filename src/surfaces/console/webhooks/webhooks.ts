// The webhooks of the account: where events go, and whether they get through. A new one's secret is shown once.
import { type Html, html } from '../../../lib/html.ts';
import type { ConsolePage, View } from '../page.ts';
import { panel } from '../parts/failure.ts';
import { actForm, textOf } from '../parts/form.ts';
import { more, type Page, table, teach } from '../parts/table.ts';
import { short, time } from '../parts/text.ts';
import type { Visit } from '../visit.ts';
import { eventsOf, secretShown, standing, type Webhook, webhookFields, webhookPath } from './webhook.ts';

const ROWS = 25;
const EVENTS_SHOWN = 3;
const REGISTER = 'register';

export const webhooksPage: ConsolePage = {
  name: 'webhooks',
  path: '/webhooks',
  needs: 'account.webhooks.list',
  nav: { label: 'Webhooks', key: 'h' },
  isLive: true,
  show,
  acts: {
    [REGISTER]: {
      capability: 'account.webhooks.register',
      input: (form) => ({
        url: textOf(form, 'url'),
        events: eventsOf(form),
        description: textOf(form, 'description') ?? null,
      }),
      done: 'The webhook was registered.',
      shown: (data, visit) => ({ title: 'A signing secret', content: secretShown(visit, data as Webhook) }),
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call<Page<Webhook>>('account.webhooks.list', { cursor, limit: ROWS });
  const content = html`<h1>Webhooks</h1>
<p>Each event that is told there is signed, and tried again for days until it is answered with 2xx.</p>
${panel(visit, 'All webhooks', list, (page) => html`${webhooks(visit, page)}${more(visit, page)}`)}
${visit.may('account.webhooks.register') ? html`<section class="panel"><h2>New webhook</h2>${actForm(visit, REGISTER, html`${webhookFields(visit, REGISTER)}<button class="main">Register the webhook</button>`)}</section>` : ''}`;
  return { title: 'Webhooks', content };
}

function webhooks(visit: Visit, { items }: Page<Webhook>): Html {
  return table({
    caption: 'Webhooks',
    rows: items,
    empty: teach('There is no webhook. Register one here or by a call:', firstCall(visit)),
    columns: [
      { title: 'Address', cell: ({ id, url }) => html`<a href="${visit.path(webhookPath(id))}">${short(url, 80)}</a>` },
      { title: 'Standing', cell: standing },
      { title: 'Events', cell: eventsText },
      { title: 'Note', cell: ({ description }) => (description === null ? '' : short(description, 80)) },
      { title: 'Registered', cell: ({ created_at }) => time(visit, created_at) },
    ],
  });
}

function eventsText({ events }: Webhook): string {
  const rest = events.length - EVENTS_SHOWN;
  return `${events.slice(0, EVENTS_SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function firstCall({ baseUrl }: Visit): string {
  const body = JSON.stringify({ url: 'https://example.org/hooks', events: ['queue.dlq'] });
  return `curl -sS ${baseUrl}/v1/account/webhooks/register -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
