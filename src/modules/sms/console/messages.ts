// Text messages: what was sent and received, how far each is, and a form for a new one.
import { panel } from '../../../kit/console/failure.ts';
import { field, textOf } from '../../../kit/console/form.ts';
import { filterTabs } from '../../../kit/console/list-page.ts';
import { asksForNew, type NewForm, newAction, newView, titleWithNew } from '../../../kit/console/new.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { badge, more, type Page, pageTabs, table, teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { get } from '../capabilities/get.ts';
import { list as smsList } from '../capabilities/list.ts';
import { sandboxInbound } from '../capabilities/sandbox-inbound.ts';
import { send as smsSend } from '../capabilities/send.ts';
import { verifyList } from '../capabilities/verify-list.ts';

export type Sms = DataOf<typeof get>;

const ROWS = 25;
const statuses = ['sent', 'delivered', 'failed', 'received'];
const filter = { name: 'status', label: 'Status of messages', values: statuses };

const newMessage: NewForm = {
  act: 'send',
  heading: 'New message',
  capability: smsSend,
  form: messageForm,
  intro: 'Without carriers the sandbox takes it: nothing leaves the service.',
};

export const messagesPage: ConsolePage = {
  name: 'sms',
  path: '/sms',
  needs: smsList,
  nav: { label: 'SMS', key: 'x', group: 'reach', holds: smsList },
  isLive: true,
  show,
  actions: [newAction('/sms', newMessage)],
  acts: {
    send: actOf({
      capability: smsSend,
      input: (form) => ({ to: textOf(form, 'to'), text: textOf(form, 'text'), from: textOf(form, 'from') }),
      done: 'Message sent.',
      next: ({ sms_id: id }) => `/sms/${id}`,
    }),
  },
};

export function smsState({ status }: Pick<Sms, 'status'>): Html {
  const kind =
    status === 'delivered' ? 'good' : status === 'failed' ? 'critical' : status === 'queued' ? 'warning' : 'plain';
  return badge(status, kind);
}

/** The page and its neighbour. */
function smsTabs(visit: Visit, here: '/sms' | '/sms/verifications'): Html {
  const tab = (text: string, path: string) => ({ text, href: visit.path(path), isHere: path === here });
  return pageTabs('Pages of SMS', [
    tab('Messages', '/sms'),
    ...(visit.may(verifyList) ? [tab('Verifications', '/sms/verifications')] : []),
  ]);
}

async function show(visit: Visit): Promise<View> {
  if (asksForNew(visit, newMessage)) return newView(visit, newMessage);
  const status = statuses.find((each) => each === visit.query.get('status'));
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(smsList, { status: status as Sms['status'] | undefined, cursor, limit: ROWS });
  const write = visit.may(sandboxInbound)
    ? html`<p>Rehearse an answer: <a href="${visit.path('/sms/inbound')}">receive a message</a> in the sandbox.</p>`
    : '';
  const content = html`${titleWithNew(visit, 'SMS', newMessage)}
${smsTabs(visit, '/sms')}
${write}
${panel(visit, 'Messages', list, (page) => html`${filterTabs(visit, filter, status)}${messages(visit, page)}${more(visit, page)}`)}`;
  return { title: 'SMS', content };
}

function messages(visit: Visit, { items }: Page<Sms>): Html {
  return table<Sms>({
    caption: 'Messages',
    rows: items,
    empty: teach(
      'No messages yet. The sandbox takes any:',
      visit.samples([[smsSend, { to: '+12025550123', text: 'Your table is ready.' }]]),
    ),
    columns: [
      {
        title: 'Number',
        cell: (sms) => html`<a href="${visit.path(`/sms/${sms.sms_id}`)}">${direction(sms)} ${short(otherOf(sms))}</a>`,
      },
      { title: 'Status', cell: smsState },
      { title: 'Text', cell: ({ text }) => short(text, 80) },
      { title: 'Carrier', cell: ({ vendor }) => short(vendor, 40) },
      { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
      { title: 'Segments', kind: 'number', cell: ({ segments }) => String(segments) },
      { title: 'Cost', usd: ({ cost_usd: cost }) => cost },
    ],
  });
}

/** The number of the person. */
export function otherOf({ direction: way, from, to }: Pick<Sms, 'direction' | 'from' | 'to'>): string {
  return way === 'inbound' ? from : to;
}

function direction({ direction: way }: Sms): string {
  return way === 'inbound' ? 'From' : 'To';
}

function messageForm(visit: Visit, act: string): Html {
  return html`<div class="pair">${field(visit, act, { name: 'to', label: 'Number', isRequired: true, hint: 'E.164, such as +12025550123.', attributes: html`inputmode="tel" autocomplete="off" spellcheck="false"` })}
${field(visit, act, { name: 'from', label: 'Sender', hint: 'One of those of the carrier; empty: its first.', attributes: html`spellcheck="false"` })}</div>
${field(visit, act, { name: 'text', label: 'Text', rows: 4, isRequired: true, hint: '160 characters a segment; 70 with characters outside of the GSM alphabet, such as emoji.' })}
<button class="main">Send message</button>`;
}
