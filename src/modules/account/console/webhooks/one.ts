// One webhook: its standing and settings, and its deliveries with every attempt, which can be made again.

import { copiedId } from '../../../../kit/console/copied.ts';
import { pickedEvents } from '../../../../kit/console/event-picker.ts';
import { panel } from '../../../../kit/console/failure.ts';
import { actButton, actForm, textOf } from '../../../../kit/console/form.ts';
import { type Act, actOf, type ConsolePage, type View } from '../../../../kit/console/page.ts';
import { facts } from '../../../../kit/console/table.ts';
import { short, time } from '../../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../../kit/console/typed.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { webhooksDelete } from '../../capabilities/webhooks/delete.ts';
import { webhooksDeliveries } from '../../capabilities/webhooks/deliveries.ts';
import { webhooksGet } from '../../capabilities/webhooks/get.ts';
import { webhooksRedeliver } from '../../capabilities/webhooks/redeliver.ts';
import { webhooksTest } from '../../capabilities/webhooks/test.ts';
import { webhooksUpdate } from '../../capabilities/webhooks/update.ts';
import { deliveries, REDELIVER, statusTabs } from './deliveries.ts';
import { secretShown, standing, type Webhook, webhookFields, webhookPath } from './webhook.ts';

const ROWS = 20;
/** What is being delivered tells no tick. */
const AGAIN_SECONDS = 2;
const idOf = ({ params: { id = '' } }: Visit) => id;

/** A change of the webhook by one field. */
function change(fields: Readonly<Record<string, unknown>>, done: string): Act<typeof webhooksUpdate> {
  return {
    capability: webhooksUpdate,
    input: (_, visit) => ({ id: idOf(visit), ...fields }),
    done,
  };
}

export const webhookPage: ConsolePage = {
  name: 'webhook',
  path: '/webhooks/{id}',
  needs: webhooksGet,
  isLive: true,
  show,
  acts: {
    [REDELIVER]: {
      capability: webhooksRedeliver,
      input: (form) => ({ delivery_id: textOf(form, 'delivery_id') }),
      done: 'The event is being sent again.',
    },
    test: {
      capability: webhooksTest,
      input: (_, visit) => ({ id: idOf(visit) }),
      done: 'A test was sent; it stands among the deliveries.',
    },
    enable: change({ status: 'enabled' }, 'The webhook is on.'),
    disable: change({ status: 'disabled' }, 'The webhook is off.'),
    rotate: actOf({
      ...change({ secret: null }, 'There is a new secret.'),
      shown: (data, visit) => ({ title: 'A signing secret', content: secretShown(visit, data) }),
    }),
    update: {
      capability: webhooksUpdate,
      input: (form, visit) => ({
        id: idOf(visit),
        ...{ url: textOf(form, 'url'), events: pickedEvents(form), description: textOf(form, 'description') ?? null },
      }),
      done: 'The webhook was changed.',
    },
  },
};

export const webhookDeletePage: ConsolePage = {
  name: 'webhook_delete',
  path: '/webhooks/{id}/delete',
  needs: webhooksDelete,
  show: showDelete,
  acts: {
    delete: {
      capability: webhooksDelete,
      input(form, visit) {
        const id = idOf(visit);
        requireTyped(form, id, 'delete the webhook');
        return { id };
      },
      done: 'The webhook was deleted.',
      next: () => '/webhooks',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const status = visit.query.get('status') || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const [webhook, list] = await Promise.all([
    visit.need(webhooksGet, { id }),
    visit.call(webhooksDeliveries, { id, status, cursor, limit: ROWS }),
  ]);
  const content = html`<p><a href="${visit.path('/webhooks')}">Webhooks</a></p>
<h1>${short(webhook.url, 120)}</h1>
${itself(visit, webhook)}
${panel(visit, 'Deliveries', list, (page) => html`${statusTabs(visit, status)}${deliveries(visit, page)}`)}
${visit.may(webhooksUpdate) ? settings(visit, webhook) : ''}`;
  const isMoving = list.data?.items.some((each) => each.status === 'pending') === true;
  return { title: 'A webhook', content, ...(isMoving ? { againSeconds: AGAIN_SECONDS } : {}) };
}

function itself(visit: Visit, webhook: Webhook): Html {
  const { id, events, description, created_at, disabled_at, secret_last4: last4, retry_policy: policy } = webhook;
  const mayChange = visit.may(webhooksUpdate);
  const headers = Object.entries(webhook.headers).map(
    ([name, value]) => html`<div>${short(`${name}: ${value}`)}</div>`,
  );
  return html`${facts([
    ['Status', html`${standing(webhook)}${disabled_at === null ? '' : html` since ${time(visit, disabled_at)}`}`],
    ['ID', copiedId(id)],
    ['Events', events.join(', ')],
    ['Note', description === null ? null : short(description, 256)],
    ['Retries', policy === 'default' ? '10 attempts in some three days' : '16 attempts, the first ones within seconds'],
    ['Headers', headers.length === 0 ? null : html`${headers}`],
    ['Secret', html`ends in <code>${last4}</code>`],
    ['Registered', time(visit, created_at)],
  ])}
<div class="actions">${visit.may(webhooksTest) ? actButton(visit, 'test', 'Send a test') : ''}
${mayChange ? (webhook.status === 'enabled' ? actButton(visit, 'disable', 'Switch off') : actButton(visit, 'enable', 'Switch on')) : ''}
${mayChange ? html`${actButton(visit, 'rotate', 'New secret')} <span class="quiet">The old one signs beside it for 24 hours.</span>` : ''}
${visit.may(webhooksDelete) ? html`<a class="danger" href="${visit.path(`${webhookPath(id)}/delete`)}">Delete…</a>` : ''}</div>`;
}

function settings(visit: Visit, webhook: Webhook): Html {
  const form = actForm(
    visit,
    'update',
    html`${webhookFields(visit, 'update', webhook)}<button class="main">Change</button>`,
  );
  return html`<section class="panel"><h2>Settings</h2>${form}</section>`;
}

async function showDelete(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const [webhook, waiting] = await Promise.all([
    visit.need(webhooksGet, { id }),
    visit.need(webhooksDeliveries, { id, status: 'pending', limit: ROWS }),
  ]);
  const count = `${waiting.items.length}${waiting.next_cursor === null ? '' : ' or more'}`;
  const content = html`<p><a href="${visit.path(webhookPath(id))}">${short(webhook.url, 100)}</a></p>
<h1>Delete the webhook</h1>
<p>Nothing is told to ${short(webhook.url, 200)} any more, and ${count} deliveries that wait are cancelled. What was delivered stays to be read by its id for a while.</p>
${typedForm(visit, 'delete', { wanted: id, button: 'Delete' })}`;
  return { title: 'Delete a webhook', content };
}
