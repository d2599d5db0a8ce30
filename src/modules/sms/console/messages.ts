// Text messages: what was sent and received, how far each is, and a form for a new one.
import { field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { badge, pageTabs, teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { get } from '../capabilities/get.ts';
import { list as smsList } from '../capabilities/list.ts';
import { sandboxInbound } from '../capabilities/sandbox-inbound.ts';
import { send as smsSend } from '../capabilities/send.ts';
import { verifyList } from '../capabilities/verify-list.ts';

export type Sms = DataOf<typeof get>;

export const messagesPage = listPage({
  name: 'sms',
  path: '/sms',
  nav: { label: 'SMS', key: 'x', group: 'reach' },
  title: 'SMS',
  caption: 'Messages',
  list: smsList,
  above: (visit) => html`${smsTabs(visit)}${sandboxLink(visit)}`,
  filter: { name: 'status', label: 'Status of messages', values: ['sent', 'delivered', 'failed', 'received'] },
  empty: (visit) =>
    teach(
      'No messages yet. The sandbox takes any:',
      visit.samples([[smsSend, { to: '+12025550123', text: 'Your table is ready.' }]]),
    ),
  columns: (visit) => [
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
  create: {
    capability: smsSend,
    heading: 'New message',
    intro: 'Without carriers the sandbox takes it: nothing leaves the service.',
    input: (form) => ({ to: textOf(form, 'to'), text: textOf(form, 'text'), from: textOf(form, 'from') }),
    done: 'Message sent.',
    next: ({ sms_id: id }) => `/sms/${id}`,
    form: messageForm,
  },
});

const kinds: Readonly<Partial<Record<Sms['status'], 'good' | 'warning' | 'critical'>>> = {
  queued: 'warning',
  delivered: 'good',
  failed: 'critical',
};

/** Green is for what left the service: the sandbox delivers to nobody. */
export function smsState({ status, captured }: Pick<Sms, 'status' | 'captured'>): Html {
  const kind = kinds[status] ?? 'plain';
  return badge(status, captured && kind === 'good' ? 'plain' : kind);
}

/** The page and its neighbour. */
function smsTabs(visit: Visit): Html {
  const tab = (text: string, path: string) => ({ text, href: visit.path(path), isHere: path === '/sms' });
  return pageTabs('Pages of SMS', [
    tab('Messages', '/sms'),
    ...(visit.may(verifyList) ? [tab('Verifications', '/sms/verifications')] : []),
  ]);
}

function sandboxLink(visit: Visit): Html {
  if (!visit.may(sandboxInbound)) return html``;
  return html`<p>Rehearse an answer: <a href="${visit.path('/sms/inbound')}">receive a message</a> in the sandbox.</p>`;
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
