// Pages of a webhook: deliveries, settings with the signing secret, and deletion.

import { copiedId } from '../../../../kit/console/copied.ts';
import { pickedEvents } from '../../../../kit/console/event-picker.ts';
import { actButton, actForm, numberOf, textOf } from '../../../../kit/console/form.ts';
import { actOf } from '../../../../kit/console/page.ts';
import { type ResourcePage, resourcePages } from '../../../../kit/console/resource-pages.ts';
import { facts } from '../../../../kit/console/table.ts';
import { ago, short } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { webhooksDelete } from '../../capabilities/webhooks/delete.ts';
import { webhooksDeliveries } from '../../capabilities/webhooks/deliveries.ts';
import { webhooksGet } from '../../capabilities/webhooks/get.ts';
import { webhooksUpdate } from '../../capabilities/webhooks/update.ts';
import { deliveriesPage } from './attempts.ts';
import { secretShown, standing, type Webhook, webhookFields } from './webhook.ts';

const COUNTED_MAX = 20;

const settings: ResourcePage<Webhook> = {
  below: '/settings',
  tab: 'Settings',
  title: (name) => `Settings of ${name}`,
  show: async (visit, webhook) => ({ content: html`${form(visit, webhook)}${signing(visit, webhook)}` }),
  acts: {
    rotate: actOf({
      capability: webhooksUpdate,
      input: (_, { params }) => ({ webhook_id: params.id, secret: null }),
      done: 'Secret rotated.',
      answerView: (data, visit) => ({ title: 'Signing secret', content: secretShown(visit, data) }),
    }),
    update: {
      capability: webhooksUpdate,
      input: (sent, visit) => ({
        webhook_id: visit.params.id,
        url: textOf(sent, 'url'),
        events: pickedEvents(sent, visit),
        description: textOf(sent, 'description') ?? null,
        timeout_seconds: numberOf(sent, 'timeout_seconds'),
      }),
      done: 'Settings saved.',
    },
  },
};

export const webhookPages = resourcePages<Webhook>({
  name: 'webhook',
  noun: 'webhook',
  path: '/webhooks/{id}',
  list: { title: 'Webhooks', path: '/webhooks' },
  needs: webhooksGet,
  read: (visit) => visit.need(webhooksGet, { webhook_id: visit.params.id }),
  nameOf: ({ url }) => url,
  badge: (visit, webhook) =>
    html`${standing(webhook)}${webhook.disabled_at === null ? '' : html` ${ago(visit, webhook.disabled_at)}`}`,
  about: (visit, { webhook_id: id, events, created_at }) =>
    html`<p class="quiet">${events.join(', ')} · registered ${ago(visit, created_at)} · ${copiedId(id)}</p>`,
  pages: [deliveriesPage, settings],
  deletion: {
    capability: webhooksDelete,
    title: 'Delete a webhook',
    warning: () => 'Pending deliveries are cancelled. No more events are sent to this URL.',
    effect: deletionText,
  },
});

function form(visit: Visit, webhook: Webhook): Html {
  if (!visit.may(webhooksUpdate)) return html``;
  const fields = html`${webhookFields(visit, 'update', webhook)}<button class="main">Save</button>`;
  return html`<section class="panel">${actForm(visit, 'update', fields)}</section>`;
}

function signing(visit: Visit, webhook: Webhook): Html {
  const headers = Object.entries(webhook.headers).map(
    ([name, value]) => html`<div>${short(`${name}: ${value}`)}</div>`,
  );
  const isUsual = webhook.retry_policy === 'default';
  return html`<section class="panel"><h2>Signing and retries</h2>${facts([
    ['Signing secret', html`ends in <code>${webhook.secret_last4}</code>`],
    ['Retries', isUsual ? '10 attempts in about three days' : '16 attempts, the first ones within seconds'],
    ['Headers', headers.length === 0 ? null : html`${headers}`],
  ])}${visit.may(webhooksUpdate) ? html`<div class="actions">${actButton(visit, 'rotate', 'Rotate secret')} <span class="quiet">The old secret keeps signing for 24 hours.</span></div>` : ''}</section>`;
}

async function deletionText(visit: Visit, { webhook_id: id, url }: Webhook): Promise<Html> {
  const waiting = await visit.need(webhooksDeliveries, { webhook_id: id, status: 'pending', limit: COUNTED_MAX });
  const count = `${waiting.items.length}${waiting.next_cursor === null ? '' : ' or more'}`;
  return html`No more events are sent to ${short(url, 200)}. Pending deliveries to be cancelled: ${count}. Past deliveries stay in the API for 30 days.`;
}
