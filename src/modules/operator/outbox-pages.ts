// Pages of mail that is not sent, for the operator. All that stands in a mail is text: no link of it leads anywhere.
import { type Html, html } from '../../lib/html.ts';
import type { Page, PageContent } from '../../manifest/page.ts';

interface Mail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly created_at: string;
}

interface Outbox {
  readonly items: readonly Mail[];
  readonly next_cursor: string | null;
}

const PATH = '/console/operator/outbox';

export const outboxPage: Page = {
  name: 'operator.outbox',
  path: PATH,
  query: ['cursor'],
  capability: 'operator.outbox.list',
  subject: 'outbox',
  show: (data) => outboxContent(data as Outbox),
};

export const mailPage: Page = {
  name: 'operator.mail',
  path: `${PATH}/{mail_id}`,
  capability: 'operator.outbox.get',
  subject: 'mail',
  show: (data) => mailContent(data as Mail),
};

function outboxContent({ items, next_cursor: next }: Outbox): PageContent {
  const row = ({ id, to, subject, created_at }: Mail) =>
    html`<li class="card"><p><a href="./outbox/${id}"><bdi>${subject}</bdi></a></p><p>to <bdi>${to}</bdi></p><p class="quiet">${time(created_at)}</p></li>`;
  const list = items.length === 0 ? html`<p>No mail waits.</p>` : html`<ul class="plain">${items.map(row)}</ul>`;
  const content = html`<h1>Mail that is not sent</h1>
<p class="quiet">The newest first, for a day. Links and codes in it sign people in: show them to nobody else.</p>
${list}
${next === null ? '' : html`<p><a href="?cursor=${next}">Older mail</a></p>`}`;
  return { title: 'Mail that is not sent', content };
}

function mailContent({ to, subject, text, created_at }: Mail): PageContent {
  const content = html`<p><a href="../outbox">All mail that is not sent</a></p>
<h1 dir="auto">${subject}</h1>
<dl class="facts"><dt>To</dt><dd><bdi>${to}</bdi></dd><dt>Written</dt><dd>${time(created_at)}</dd></dl>
<pre class="text" dir="auto">${text}</pre>`;
  return { title: subject, content };
}

function time(instant: string): Html {
  return html`<time datetime="${instant}">${instant.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
