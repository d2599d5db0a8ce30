// What can be changed of a webhook, its secret, and its end.

import { dangerLink, dangerZone } from '../../../../kit/console/danger-zone.ts';
import { pickedEvents } from '../../../../kit/console/event-picker.ts';
import { actButton, actForm, textOf } from '../../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../../kit/console/page.ts';
import { facts } from '../../../../kit/console/table.ts';
import { short } from '../../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../../kit/console/typed.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { webhooksDelete } from '../../capabilities/webhooks/delete.ts';
import { webhooksDeliveries } from '../../capabilities/webhooks/deliveries.ts';
import { webhooksGet } from '../../capabilities/webhooks/get.ts';
import { webhooksUpdate } from '../../capabilities/webhooks/update.ts';
import { head } from './one.ts';
import { secretShown, type Webhook, webhookFields, webhookPath } from './webhook.ts';

const COUNTED_MAX = 20;
const idOf = ({ params: { id = '' } }: Visit) => id;

export const webhookSettingsPage: ConsolePage = {
  name: 'webhook_settings',
  path: '/webhooks/{id}/settings',
  needs: webhooksGet,
  show: showSettings,
  acts: {
    rotate: actOf({
      capability: webhooksUpdate,
      input: (_, visit) => ({ id: idOf(visit), secret: null }),
      done: 'Secret rotated.',
      answerView: (data, visit) => ({ title: 'Signing secret', content: secretShown(visit, data) }),
    }),
    update: {
      capability: webhooksUpdate,
      input: (form, visit) => ({
        id: idOf(visit),
        url: textOf(form, 'url'),
        events: pickedEvents(form),
        description: textOf(form, 'description') ?? null,
      }),
      done: 'Settings saved.',
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
      done: 'Webhook deleted.',
      next: () => '/webhooks',
    },
  },
};

async function showSettings(visit: Visit): Promise<View> {
  const webhook = await visit.need(webhooksGet, { id: idOf(visit) });
  const mayUpdate = visit.may(webhooksUpdate);
  const form = () =>
    actForm(visit, 'update', html`${webhookFields(visit, 'update', webhook)}<button class="main">Save</button>`);
  const content = html`${head(visit, webhook, '/settings')}
${mayUpdate ? html`<section class="panel">${form()}</section>` : ''}
${signing(visit, webhook, mayUpdate)}
${dangerZone([
  visit.may(webhooksDelete)
    ? {
        title: 'Delete this webhook',
        text: 'Pending deliveries are cancelled. No more events are sent to this URL.',
        act: dangerLink(visit.path(`${webhookPath(webhook.id)}/delete`), 'Delete…'),
      }
    : null,
])}`;
  return { title: `Settings of ${webhook.url}`, content };
}

function signing(visit: Visit, webhook: Webhook, mayUpdate: boolean): Html {
  const headers = Object.entries(webhook.headers).map(
    ([name, value]) => html`<div>${short(`${name}: ${value}`)}</div>`,
  );
  const isUsual = webhook.retry_policy === 'default';
  return html`<section class="panel"><h2>Signing and retries</h2>${facts([
    ['Signing secret', html`ends in <code>${webhook.secret_last4}</code>`],
    ['Retries', isUsual ? '10 attempts in about three days' : '16 attempts, the first ones within seconds'],
    ['Headers', headers.length === 0 ? null : html`${headers}`],
  ])}${mayUpdate ? html`<div class="actions">${actButton(visit, 'rotate', 'Rotate secret')} <span class="quiet">The old secret keeps signing for 24 hours.</span></div>` : ''}</section>`;
}

async function showDelete(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const [webhook, waiting] = await Promise.all([
    visit.need(webhooksGet, { id }),
    visit.need(webhooksDeliveries, { id, status: 'pending', limit: COUNTED_MAX }),
  ]);
  const count = `${waiting.items.length}${waiting.next_cursor === null ? '' : ' or more'}`;
  const content = html`<p><a href="${visit.path(`${webhookPath(id)}/settings`)}">${short(webhook.url, 100)}</a></p>
<h1>Delete the webhook</h1>
<p>No more events are sent to ${short(webhook.url, 200)}. Pending deliveries to be cancelled: ${count}. Past deliveries stay in the API for 30 days.</p>
${typedForm(visit, 'delete', { wanted: id, button: 'Delete' })}`;
  return { title: 'Delete a webhook', content };
}
