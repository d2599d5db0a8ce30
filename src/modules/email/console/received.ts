// One received mail: who says that it is from whom and what was checked of that, what it says, its files, and an answer to it.
import { copiedId } from '../../../kit/console/copied.ts';
import { contentOrFailure } from '../../../kit/console/failure.ts';
import { actForm, field, textOf } from '../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { badge, facts } from '../../../kit/console/table.ts';
import { ago, ownPath, short, sizeText, time } from '../../../kit/console/text.ts';
import type { DataOf, Read, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { getReceived } from '../capabilities/received/get.ts';
import { rawReceived } from '../capabilities/received/raw.ts';
import { reply } from '../capabilities/reply.ts';
import { bodyPanel, sourceView, viewOf } from './mail-body.ts';
import { INBOXES, inboxPath, mailPath } from './tabs.ts';

type Received = DataOf<typeof getReceived>;

const idOf = ({ params: { inbound_id: id = '' } }: Visit) => id;

export const receivedPage: ConsolePage = {
  name: 'email_received',
  path: '/email/received/{inbound_id}',
  needs: getReceived,
  show,
  acts: {
    reply: actOf({
      capability: reply,
      input: (form, visit) => ({ inbound_id: idOf(visit), text: textOf(form, 'text') }),
      done: 'Reply accepted.',
      next: ({ email_id: id }) => mailPath(id),
    }),
  },
};

async function show(visit: Visit): Promise<View> {
  const mail = await visit.need(getReceived, { inbound_id: idOf(visit) });
  const body = { text: mail.text, html: mail.html, call: 'email.received' };
  const source =
    viewOf(visit, body) === 'source' ? await visit.call(rawReceived, { inbound_id: mail.inbound_id }) : null;
  const content = html`<p><a href="${visit.path(INBOXES)}">Inboxes</a> / <a href="${visit.path(inboxPath(mail.inbox_id))}">Inbox</a></p>
<div class="head"><h1>${mail.subject === '' ? 'No subject' : short(mail.subject, 160)}</h1></div>
${head(visit, mail)}
${bodyPanel(visit, body, source === null ? html`` : sourceOf(visit, source))}
${mail.truncated ? html`<p class="quiet">Text or HTML is longer than what is shown: the source has all of it.</p>` : ''}
${files(mail)}
${visit.may(reply) ? replyForm(visit) : ''}`;
  return {
    title: mail.subject === '' ? 'Received email' : mail.subject.slice(0, 100).toWellFormed(),
    content,
    showsMail: true,
  };
}

function head(visit: Visit, { from, to, auth, inbound_id, thread_id, received_at }: Received): Html {
  return facts([
    ['From', short(from, 300)],
    ['To', short(to.join(', '), 600)],
    ['Received', html`${time(visit, received_at)} (${ago(visit, received_at)})`],
    ['Sender checks', html`${check('SPF', auth.spf)} ${check('DKIM', auth.dkim)} ${check('DMARC', auth.dmarc)}`],
    ['Thread', html`<code>${short(thread_id, 100)}</code>`],
    ['ID', copiedId(inbound_id)],
  ]);
}

function check(name: string, result: string): Html {
  return badge(`${name} ${result}`, result === 'pass' ? 'good' : result === 'fail' ? 'critical' : 'plain');
}

function files({ attachments }: Received): Html {
  if (attachments.length === 0) return html``;
  const each = ({ filename, content_type, bytes, url }: Received['attachments'][number]) =>
    html`<li><a href="${ownPath(url)}">${short(filename ?? 'Without a name', 120)}</a> <span class="quiet">${short(content_type, 80)}, ${sizeText(bytes)}</span></li>`;
  return html`<section class="panel"><h2>Attachments</h2><ul class="plain">${attachments.map(each)}</ul></section>`;
}

function replyForm(visit: Visit): Html {
  const fields = html`${field(visit, 'reply', { name: 'text', label: 'Text', rows: 6, isRequired: true, attributes: html`spellcheck="true"` })}
<button class="main">Reply</button> <span class="quiet">Sent from the address of the inbox. $0.00046 per recipient.</span>`;
  return html`<section class="panel"><h2>Reply</h2>${actForm(visit, 'reply', fields)}</section>`;
}

function sourceOf(visit: Visit, read: Read<DataOf<typeof rawReceived>>): Html {
  return contentOrFailure(visit, read, (of) => sourceView(of, 'email.received.raw'));
}
