// One mail: what became of it for each recipient, what it says, its source; cancelled while it waits.
import { copiedId } from '../../../kit/console/copied.ts';
import { contentOrFailure } from '../../../kit/console/failure.ts';
import { actButton } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, table } from '../../../kit/console/table.ts';
import { ago, short, sizeText, time } from '../../../kit/console/text.ts';
import type { DataOf, Read, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { cancel } from '../capabilities/cancel.ts';
import { get } from '../capabilities/get.ts';
import { raw } from '../capabilities/raw.ts';
import { bodyPanel, sourceView, viewOf } from './mail-body.ts';
import { type Mail, recipientBadge, statusBadge } from './mail-parts.ts';
import { SENT } from './tabs.ts';

/** While it waits for a relay. */
const AGAIN_SECONDS = 3;
const idOf = ({ params: { email_id: id = '' } }: Visit) => id;

export const mailPage: ConsolePage = {
  name: 'email_sent',
  path: `${SENT}/sent/{email_id}`,
  needs: get,
  isLive: true,
  show,
  acts: { cancel: { capability: cancel, input: (_, visit) => ({ email_id: idOf(visit) }), done: 'Email cancelled.' } },
};

async function show(visit: Visit): Promise<View> {
  const mail = await visit.need(get, { email_id: idOf(visit), content: true });
  const body = { text: mail.content?.text ?? null, html: mail.content?.html ?? null, call: 'email.get' };
  const source = viewOf(visit, body) === 'source' ? await visit.call(raw, { email_id: mail.email_id }) : null;
  const waits = mail.status === 'queued' || mail.status === 'scheduled';
  const content = html`<p><a href="${visit.path(SENT)}">Email</a></p>
<div class="head"><div class="head named"><h1>${mail.subject === '' ? 'No subject' : short(mail.subject, 160)}</h1><p>${statusBadge(mail.status, mail)}</p></div><div class="actions">${waits && visit.may(cancel) ? actButton(visit, 'cancel', 'Cancel') : ''}</div></div>
${mail.captured ? html`<p class="quiet">Kept in the outbox: nothing left the service.</p>` : ''}
${head(visit, mail)}
${course(visit, mail)}
${mail.content === null ? html`<section class="panel"><h2>Content</h2><p class="quiet">Not kept any more.</p></section>` : bodyPanel(visit, body, source === null ? html`` : sourceOf(visit, source))}`;
  return {
    title: mail.subject === '' ? 'Email' : mail.subject.slice(0, 100).toWellFormed(),
    content,
    showsMail: true,
    ...(mail.status === 'queued' ? { againSeconds: AGAIN_SECONDS } : {}),
  };
}

function head(
  visit: Visit,
  { from, to, content, tags, vendor, message_id, email_id, send_at, sent_at, created_at, status }: Mail,
): Html {
  const { cc = [], reply_to = [], attachments = [] } = content ?? {};
  const many = (addresses: readonly string[]) => (addresses.length === 0 ? null : short(addresses.join(', '), 600));
  return facts([
    ['From', short(from, 300)],
    ['To', many(to)],
    ['Cc', many(cc)],
    ['Reply to', many(reply_to)],
    ['Scheduled for', status === 'scheduled' ? html`${time(visit, send_at)} (${ago(visit, send_at)})` : null],
    ['Accepted', html`${time(visit, created_at)} (${ago(visit, created_at)})`],
    ['Sent', sent_at === null ? null : html`${time(visit, sent_at)} by ${vendor}`],
    ['Tags', tags.length === 0 ? null : short(tags.join(', '), 300)],
    ['Attachments', attachments.length === 0 ? null : html`${attachments.map(attachmentText)}`],
    ['Message-ID', html`<code>${short(message_id, 200)}</code>`],
    ['ID', copiedId(email_id)],
  ]);
}

function attachmentText({ filename, bytes }: NonNullable<Mail['content']>['attachments'][number]): Html {
  return html`<div>${short(filename, 120)} <span class="quiet">${sizeText(bytes)}</span></div>`;
}

function course(visit: Visit, mail: Mail): Html {
  return html`<section class="panel"><h2>Recipients</h2>${table({
    caption: 'Recipients',
    rows: mail.recipients,
    empty: html`<p>None.</p>`,
    columns: [
      {
        title: 'Address',
        cell: ({ address, kind }) =>
          html`${short(address, 120)}${kind === 'to' ? '' : html` <span class="quiet">${kind}</span>`}`,
      },
      { title: 'Status', cell: (recipient) => recipientBadge(recipient, mail) },
      { title: 'Code', cell: ({ code }) => code ?? '' },
      { title: 'Answer', cell: ({ detail }) => (detail === null ? '' : short(detail, 400)) },
      { title: 'Changed', cell: ({ changed_at }) => ago(visit, changed_at) },
    ],
  })}</section>`;
}

function sourceOf(visit: Visit, read: Read<DataOf<typeof raw>>): Html {
  return contentOrFailure(visit, read, (of) => sourceView(of, 'email.raw'));
}
