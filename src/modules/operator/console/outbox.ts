// Mail that is not sent, for the operator. All that stands in a mail is text here: no link of it leads anywhere, its HTML is never run.

import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, more, type Page, table } from '../../../kit/console/table.ts';
import { ago, payload, short, time } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { outboxGet, outboxList } from '../capabilities/outbox.ts';
import { operatorTabs } from './operator.ts';

type Mail = DataOf<typeof outboxGet>;

const ROWS = 25;
/** Whoever waits for a mail sees it come: no tick tells of it. */
const AGAIN_SECONDS = 10;

export const operatorOutboxPage: ConsolePage = {
  name: 'operator_outbox',
  path: '/operator/outbox',
  needs: outboxList,
  isLive: true,
  show,
};

export const operatorMailPage: ConsolePage = {
  name: 'operator_mail',
  path: '/operator/outbox/{id}',
  needs: outboxGet,
  show: showMail,
};

async function show(visit: Visit): Promise<View> {
  const search = visit.query.get('search')?.trim() || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(outboxList, { search, cursor, limit: ROWS });
  const content = html`<h1>Mail</h1>
${operatorTabs(visit, '/outbox')}
<p>Mail that is waiting or was refused; without a mail server, all mail of the last day. Its links and codes sign people in, so share them with nobody.</p>
<form method="get" class="row"><label>Mail <input type="search" name="search" value="${search ?? ''}" size="28" placeholder="part of an address or subject" spellcheck="false"></label> <button>Search</button></form>
${panel(visit, 'Not sent', list, (page) => html`${mails(visit, page, search)}${more(visit, page)}`)}`;
  return { title: 'Mail', content, ...(cursor === undefined ? { againSeconds: AGAIN_SECONDS } : {}) };
}

function mails(visit: Visit, { items }: Page<Mail>, search: string | undefined): Html {
  const none =
    search === undefined
      ? html`<p>No mail is waiting. Sign-in codes and other mail appear here until they are sent. <code>qm outbox</code> prints the same.</p>`
      : html`<p>No mail matches.</p>`;
  return table({
    caption: 'Mail that is not sent',
    rows: items,
    empty: none,
    columns: [
      {
        title: 'Subject',
        cell: ({ mail_id: id, subject }) =>
          html`<a href="${visit.path(`/operator/outbox/${id}`)}">${short(subject || 'no subject', 120)}</a>`,
      },
      { title: 'To', cell: ({ to }) => short(to, 100) },
      { title: 'Created', cell: ({ created_at: at }) => time(visit, at) },
      { title: 'Age', kind: 'number', cell: ({ created_at: at }) => ago(visit, at) },
    ],
  });
}

async function showMail(visit: Visit): Promise<View> {
  const mail = await visit.need(outboxGet, { mail_id: visit.params.id });
  const { mail_id: id, to, subject, text, html: formatted, created_at: at } = mail;
  const content = html`<p><a href="${visit.path('/operator/outbox')}">All mail</a></p>
<h1>${short(subject || 'no subject', 200)}</h1>
${facts([
  ['To', short(to, 254)],
  ['Written', html`${time(visit, at)} <span class="quiet">${ago(visit, at)}</span>`],
  ['ID', copiedId(id)],
])}
<section class="panel"><h2>Text</h2>${payload(text, 'Text', { call: 'operator.outbox.get' })}</section>
${formatted === '' ? '' : html`<details id="source"><summary>HTML, as its source</summary>${payload(formatted, 'HTML', { call: 'operator.outbox.get' })}</details>`}`;
  return { title: subject.slice(0, 80).toWellFormed() || 'Mail', content };
}
