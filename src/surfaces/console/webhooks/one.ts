// One webhook: its standing and settings, and its deliveries with every attempt, which can be made again.
import { type Html, html } from '../../../lib/html.ts';
import type { Act, ConsolePage, View } from '../page.ts';
import { panel } from '../parts/failure.ts';
import { actButton, actForm, textOf } from '../parts/form.ts';
import { facts, type Page } from '../parts/table.ts';
import { short, time } from '../parts/text.ts';
import { requireTyped, typedForm } from '../parts/typed.ts';
import type { Visit } from '../visit.ts';
import { type Delivery, deliveries, REDELIVER, statusTabs } from './deliveries.ts';
import { eventsOf, secretShown, standing, type Webhook, webhookFields, webhookPath } from './webhook.ts';

const ROWS = 20;
/** What is being delivered tells no tick. */
const AGAIN_SECONDS = 2;
const idOf = ({ params: { id = '' } }: Visit) => id;

/** A change of the webhook by one field. */
function change(fields: Readonly<Record<string, unknown>>, done: string): Act {
  return {
    capability: 'account.webhooks.update',
    input: (_, visit) => ({ id: idOf(visit), ...fields }),
    done,
  };
}

export const webhookPage: ConsolePage = {
  name: 'webhook',
  path: '/webhooks/{id}',
  needs: 'account.webhooks.get',
  isLive: true,
  show,
  acts: {
    [REDELIVER]: {
      capability: 'account.webhooks.redeliver',
      input: (form) => ({ delivery_id: textOf(form, 'delivery_id') }),
      done: 'The event is being sent again.',
    },
    test: {
      capability: 'account.webhooks.test',
      input: (_, visit) => ({ id: idOf(visit) }),
      done: 'A test was sent; it stands among the deliveries.',
    },
    enable: change({ status: 'enabled' }, 'The webhook is on.'),
    disable: change({ status: 'disabled' }, 'The webhook is off.'),
    rotate: {
      ...change({ secret: null }, 'There is a new secret.'),
      shown: (data, visit) => ({ title: 'A signing secret', content: secretShown(visit, data as Webhook) }),
    },
    update: {
      capability: 'account.webhooks.update',
      input: (form, visit) => ({
        id: idOf(visit),
        ...{ url: textOf(form, 'url'), events: eventsOf(form), description: textOf(form, 'description') ?? null },
      }),
      done: 'The webhook was changed.',
    },
  },
};

export const webhookDeletePage: ConsolePage = {
  name: 'webhook_delete',
  path: '/webhooks/{id}/delete',
  needs: 'account.webhooks.delete',
  show: showDelete,
  acts: {
    delete: {
      capability: 'account.webhooks.delete',
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
    visit.need<Webhook>('account.webhooks.get', { id }),
    visit.call<Page<Delivery>>('account.webhooks.deliveries', { id, status, cursor, limit: ROWS }),
  ]);
  const content = html`<p><a href="${visit.path('/webhooks')}">Webhooks</a></p>
<h1>${short(webhook.url, 120)}</h1>
${itself(visit, webhook)}
${panel(visit, 'Deliveries', list, (page) => html`${statusTabs(visit, status)}${deliveries(visit, page)}`)}
${visit.may('account.webhooks.update') ? settings(visit, webhook) : ''}`;
  const isMoving = list.data?.items.some((each) => each.status === 'pending') === true;
  return { title: 'A webhook', content, ...(isMoving ? { againSeconds: AGAIN_SECONDS } : {}) };
}

function itself(visit: Visit, webhook: Webhook): Html {
  const { id, events, description, created_at, disabled_at, secret_last4: last4, retry_policy: policy } = webhook;
  const mayChange = visit.may('account.webhooks.update');
  const headers = Object.entries(webhook.headers).map(
    ([name, value]) => html`<div>${short(`${name}: ${value}`)}</div>`,
  );
  return html`${facts([
    ['Standing', html`${standing(webhook)}${disabled_at === null ? '' : html` since ${time(visit, disabled_at)}`}`],
    ['Id', html`<code>${id}</code>`],
    ['Events', events.join(', ')],
    ['Note', description === null ? null : short(description, 256)],
    ['Retries', policy === 'default' ? '10 attempts in some three days' : '16 attempts, the first ones within seconds'],
    ['Headers', headers.length === 0 ? null : html`${headers}`],
    ['Secret', html`ends in <code>${last4}</code>`],
    ['Registered', time(visit, created_at)],
  ])}
<div class="actions">${visit.may('account.webhooks.test') ? actButton(visit, 'test', 'Send a test') : ''}
${mayChange ? (webhook.status === 'enabled' ? actButton(visit, 'disable', 'Switch off') : actButton(visit, 'enable', 'Switch on')) : ''}
${mayChange ? html`${actButton(visit, 'rotate', 'New secret')} <span class="quiet">The old one signs beside it for 24 hours.</span>` : ''}
${visit.may('account.webhooks.delete') ? html`<a class="danger" href="${visit.path(`${webhookPath(id)}/delete`)}">Delete…</a>` : ''}</div>`;
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
    visit.need<Webhook>('account.webhooks.get', { id }),
    visit.need<Page<Delivery>>('account.webhooks.deliveries', { id, status: 'pending', limit: ROWS }),
  ]);
  const count = `${waiting.items.length}${waiting.next_cursor === null ? '' : ' or more'}`;
  const content = html`<p><a href="${visit.path(webhookPath(id))}">${short(webhook.url, 100)}</a></p>
<h1>Delete the webhook</h1>
<p>Nothing is told to ${short(webhook.url, 200)} any more, and ${count} deliveries that wait are cancelled. What was delivered stays to be read by its id for a while.</p>
${typedForm(visit, 'delete', { wanted: id, button: 'Delete' })}`;
  return { title: 'Delete a webhook', content };
}
