// The webhooks of the account: URL and delivery status of each. The secret of a new webhook is shown once.
import { pickedEvents } from '../../../../kit/console/event-picker.ts';
import { numberOf, textOf } from '../../../../kit/console/form.ts';
import { listPage } from '../../../../kit/console/list-page.ts';
import { teach } from '../../../../kit/console/table.ts';
import { ago, short } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { html } from '../../../../lib/html.ts';
import { webhooksList } from '../../capabilities/webhooks/list.ts';
import { webhooksRegister } from '../../capabilities/webhooks/register.ts';
import { webhookTabs } from '../receivers/receiver.ts';
import { secretShown, standing, type Webhook, webhookFields, webhookPath } from './webhook.ts';

const EVENTS_SHOWN = 3;

export const webhooksPage = listPage({
  name: 'webhooks',
  path: '/webhooks',
  nav: { label: 'Webhooks', key: 'h', group: 'reach' },
  title: 'Webhooks',
  caption: 'All webhooks',
  list: webhooksList,
  above: (visit) => webhookTabs(visit, '/webhooks'),
  intro: 'Events are signed and sent to your URL. A delivery is retried for days until it is answered with 2xx.',
  empty: (visit) => teach('No webhooks yet. To be told of messages that are dead-lettered:', firstCall(visit)),
  columns: (visit) => [
    {
      title: 'URL',
      cell: ({ webhook_id: id, url }) => html`<a href="${visit.path(webhookPath(id))}">${short(url, 80)}</a>`,
    },
    { title: 'Status', cell: standing },
    { title: 'Events', cell: eventsText },
    { title: 'Description', cell: ({ description }) => (description === null ? '' : short(description, 80)) },
    { title: 'Registered', cell: ({ created_at }) => ago(visit, created_at) },
  ],
  create: {
    capability: webhooksRegister,
    heading: 'New webhook',
    input: (form, visit) => ({
      url: textOf(form, 'url'),
      events: pickedEvents(form, visit),
      description: textOf(form, 'description') ?? null,
      timeout_seconds: numberOf(form, 'timeout_seconds'),
    }),
    done: 'Webhook registered.',
    answerView: (made, visit) => ({ title: 'Signing secret', content: secretShown(visit, made) }),
    form: (visit, act) => html`${webhookFields(visit, act)}<button class="main">Create webhook</button>`,
  },
});

function eventsText({ events }: Webhook): string {
  const rest = events.length - EVENTS_SHOWN;
  return `${events.slice(0, EVENTS_SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function firstCall(visit: Visit) {
  return visit.samples([[webhooksRegister, { url: 'https://example.org/hooks', events: ['queue.dlq'] }]]);
}
