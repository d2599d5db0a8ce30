// Pages of a receiver: its requests, each of which can be replayed; its settings; its deletion.
import { copiedId } from '../../../../kit/console/copied.ts';
import { panel } from '../../../../kit/console/failure.ts';
import { actButton, actForm, field, formFields, textOf } from '../../../../kit/console/form.ts';
import { actOf } from '../../../../kit/console/page.ts';
import { type ResourcePage, resourcePages } from '../../../../kit/console/resource-pages.ts';
import { badge, facts, more, type Page, table } from '../../../../kit/console/table.ts';
import { ago, payload, time } from '../../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { receiveDelete } from '../../capabilities/webhooks/receive/delete.ts';
import { receiveGet } from '../../capabilities/webhooks/receive/get.ts';
import { receiveReplay } from '../../capabilities/webhooks/receive/replay.ts';
import { receiveRequests } from '../../capabilities/webhooks/receive/requests.ts';
import { receiveTest } from '../../capabilities/webhooks/receive/test.ts';
import { receiveUpdate } from '../../capabilities/webhooks/receive/update.ts';
import {
  addressShown,
  madeShown,
  RECEIVERS,
  type Receiver,
  settingsOf,
  stateOf,
  stepsShown,
  targetFields,
  targetOf,
} from './receiver.ts';

type Received = ItemOf<typeof receiveRequests>;

const ROWS = 20;
/** Requests that arrive tell no tick. */
const AGAIN_SECONDS = 2;
const byId = ({ params }: Visit) => ({ receiver_id: params.id });

const requestsPage: ResourcePage<Receiver> = {
  below: '',
  tab: 'Requests',
  isLive: true,
  actions,
  show,
  acts: {
    replay: {
      capability: receiveReplay,
      input: (form, visit) => ({ ...byId(visit), request_id: textOf(form, 'request_id') }),
      done: 'Request replayed.',
    },
    test: { capability: receiveTest, input: (_, visit) => byId(visit), done: 'Sample published.' },
    enable: {
      capability: receiveUpdate,
      input: (_, visit) => ({ ...byId(visit), state: 'active' }),
      done: 'Receiver enabled.',
    },
    disable: {
      capability: receiveUpdate,
      input: (_, visit) => ({ ...byId(visit), state: 'disabled' }),
      done: 'Receiver disabled.',
    },
  },
};

const settings: ResourcePage<Receiver> = {
  below: '/settings',
  tab: 'Settings',
  title: (name) => `Settings of ${name}`,
  show: async (visit, receiver) => ({ content: await settingsContent(visit, receiver) }),
  acts: {
    update: {
      capability: receiveUpdate,
      input: (form, visit) => ({ ...byId(visit), name: textOf(form, 'name'), ...settingsOf(form) }),
      done: 'Settings saved.',
    },
    secret: actOf({
      capability: receiveUpdate,
      input: (form, visit) => ({
        ...byId(visit),
        verify: {
          scheme: form.get('scheme'),
          header: textOf(form, 'header'),
          encoding: textOf(form, 'encoding'),
          secret: textOf(form, 'verify') ?? null,
        },
      }),
      done: 'Secret replaced.',
      answerView: (made, visit) => ({ title: made.name, content: madeShown(visit, made) }),
    }),
    move: actOf({
      capability: receiveUpdate,
      input: (_, visit) => ({ ...byId(visit), new_url: true }),
      done: 'URL replaced.',
      answerView: (made, visit) => ({ title: made.name, content: madeShown(visit, made) }),
    }),
  },
};

export const receiverPages = resourcePages<Receiver>({
  name: 'webhook_receiver',
  noun: 'receiver',
  path: `${RECEIVERS}/{id}`,
  list: { title: 'Received webhooks', path: RECEIVERS },
  needs: receiveGet,
  read: (visit) => visit.need(receiveGet, { receiver_id: visit.params.id }),
  nameOf: ({ name }) => name,
  badge: (_, receiver) => stateOf(receiver),
  about: (visit, receiver) =>
    html`<p class="quiet">${receiver.verify.scheme} · to ${targetOf(receiver)} · created ${ago(visit, receiver.created_at)} · ${copiedId(receiver.receiver_id)}</p>`,
  pages: [requestsPage, settings],
  deletion: {
    capability: receiveDelete,
    field: 'receiver_id',
    title: 'Delete a receiver',
    warning: () => 'Its URL answers 404 at once, and the list of its requests is gone.',
    effect: (_, { name }) => html`What is sent to ${name} is answered 404. Messages that were published stay.`,
  },
});

function actions(visit: Visit, { state }: Receiver): Html {
  const turn = state === 'disabled' ? actButton(visit, 'enable', 'Enable') : actButton(visit, 'disable', 'Disable');
  return html`${visit.may(receiveUpdate) ? turn : ''}${visit.may(receiveTest) ? actButton(visit, 'test', 'Publish a sample') : ''}`;
}

async function show(visit: Visit, receiver: Receiver) {
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(receiveRequests, { ...byId(visit), cursor, limit: ROWS });
  const isFirst = receiver.last_received_at === null;
  const content = html`${isFirst ? html`<section class="panel">${addressShown(receiver)}${stepsShown(receiver)}</section>` : ''}
${panel(visit, 'Requests', list, (page) => html`${requests(visit, page)}${more(visit, page)}`)}`;
  return { content, againSeconds: cursor === undefined ? AGAIN_SECONDS : undefined };
}

function requests(visit: Visit, page: Page<Received>): Html {
  const mayReplay = visit.may(receiveReplay);
  const rows = table<Received>({
    caption: 'Requests',
    rows: page.items,
    empty: html`<p>No requests yet. Those whose signature is wrong are answered 401 and not listed.</p>`,
    columns: [
      { title: 'Event', cell: (one) => html`${one.event ?? 'none'}${details(one)}` },
      { title: 'Outcome', cell: outcomeOf },
      { title: 'Answer', kind: 'number', cell: ({ status }) => String(status) },
      { title: 'Received', cell: ({ received_at: at }) => html`${time(visit, at)}` },
      ...(mayReplay ? [{ title: 'Actions', cell: replayButton }] : []),
    ],
  });
  const forms = mayReplay ? page.items.map((one) => replayForm(visit, one)) : [];
  return html`${rows}${forms}`;
}

function outcomeOf({ outcome, code }: Received): Html {
  const text = code === null ? outcome : `${outcome}: ${code}`;
  const isGood = outcome === 'published' || outcome === 'challenge';
  return badge(text, outcome === 'refused' ? 'critical' : isGood ? 'good' : 'plain');
}

function details({ request_id: id, delivery_id: deliveryId, message_id: messageId, message, bytes }: Received): Html {
  return html`<details id="request-${id}"><summary>Details</summary>${facts([
    ['Request', copiedId(id)],
    ['Delivery', deliveryId === null ? null : copiedId(deliveryId)],
    ['Message', messageId === null ? null : copiedId(messageId)],
    ['Body', `${bytes} bytes`],
  ])}${message === null ? '' : payload(message, 'Message', { call: 'account.webhooks.receive.requests' })}</details>`;
}

function replayButton({ request_id: id, message }: Received): Html | string {
  return message === null ? '' : html`<button form="replay-${id}">Replay</button>`;
}

function replayForm(visit: Visit, { request_id: id, message }: Received): Html {
  if (message === null) return html``;
  return html`<form method="post" id="replay-${id}">${formFields(visit, 'replay')}<input type="hidden" name="request_id" value="${id}"></form>`;
}

async function settingsContent(visit: Visit, receiver: Receiver): Promise<Html> {
  const setup = html`<section class="panel">${addressShown(receiver)}${stepsShown(receiver)}</section>`;
  if (!visit.may(receiveUpdate)) return setup;
  const { scheme, header, encoding } = receiver.verify;
  const fields = html`${field(visit, 'update', { name: 'name', label: 'Name', value: receiver.name, isRequired: true })}
${await targetFields(visit, 'update', receiver)}<button class="main">Save</button>`;
  const hint =
    scheme === 'stripe' || scheme === 'slack' ? 'As the sender shows it.' : 'Empty: one is made, and shown once.';
  const secret = html`${field(visit, 'secret', { name: 'verify', label: 'New secret', hint, attributes: html`spellcheck="false" autocomplete="off"` })}<button>Replace secret</button>`;
  const kept = { scheme, header: header ?? '', encoding: encoding ?? '' };
  return html`${setup}<section class="panel">${actForm(visit, 'update', fields)}</section>
<section class="panel"><h2>Secret and URL</h2>${scheme === 'none' ? '' : actForm(visit, 'secret', secret, kept)}
<div class="actions">${actButton(visit, 'move', 'Replace URL')} <span class="quiet">The earlier one answers 404 at once.</span></div></section>`;
}
