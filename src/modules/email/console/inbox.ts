// One inbox: the mail that it has received, and its end.
import { copiedId } from '../../../kit/console/copied.ts';
import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { more, table } from '../../../kit/console/table.ts';
import { ago, countOf, short } from '../../../kit/console/text.ts';
import { deletionPage } from '../../../kit/console/typed.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { deleteInbox } from '../capabilities/inbox/delete.ts';
import { getInbox } from '../capabilities/inbox/get.ts';
import { inboxMessages } from '../capabilities/inbox/messages.ts';
import { INBOXES, inboxPath, receivedPath } from './tabs.ts';

const ROWS = 20;
/** Mail that arrives tells no tick. */
const AGAIN_SECONDS = 5;
const idOf = ({ params: { inbox_id: id = '' } }: Visit) => id;

export const inboxPage: ConsolePage = {
  name: 'email_inbox',
  path: `${INBOXES}/{inbox_id}`,
  needs: getInbox,
  isLive: true,
  show,
};

export const inboxDeletePage = deletionPage({
  name: 'email_inbox_delete',
  path: `${INBOXES}/{inbox_id}/delete`,
  noun: 'inbox',
  capability: deleteInbox,
  parameter: 'inbox_id',
  async about(visit, id) {
    const { address, message_count } = await visit.need(getInbox, { inbox_id: id });
    const held = `${countOf(message_count, 'email')}, which ${message_count === 1 ? 'is' : 'are'} deleted with it`;
    const text = html`${short(address, 160)} holds ${held}. Mail to its address is refused from now on.`;
    return { label: address, back: inboxPath(id), text };
  },
  next: INBOXES,
});

async function show(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const cursor = visit.query.get('cursor') ?? undefined;
  const [inbox, list] = await Promise.all([
    visit.need(getInbox, { inbox_id: id }),
    visit.call(inboxMessages, { inbox_id: id, cursor, limit: ROWS }),
  ]);
  const queue =
    inbox.queue === null ? '' : html` · each mail also goes to queue <code>${short(inbox.queue, 80)}</code>`;
  const content = html`<p><a href="${visit.path(INBOXES)}">Inboxes</a></p>
<div class="head"><h1>${short(inbox.address, 160)}</h1></div>
<p class="quiet">${countOf(inbox.message_count, 'email')} kept · created ${ago(visit, inbox.created_at)} · ${copiedId(id)}${queue}</p>
${panel(visit, 'Received email', list, (page) => html`${mails(visit, page.items)}${more(visit, page)}`)}
${dangerZone([
  visit.may(deleteInbox)
    ? {
        title: 'Delete this inbox',
        text: 'Its mail is deleted with it, and mail to its address is refused.',
        act: dangerLink(visit.path(`${inboxPath(id)}/delete`), 'Delete…'),
      }
    : null,
])}`;
  return { title: inbox.address, content, againSeconds: AGAIN_SECONDS };
}

function mails(visit: Visit, rows: readonly ItemOf<typeof inboxMessages>[]): Html {
  return table({
    caption: 'Received email, the oldest first',
    rows,
    empty: html`<p>No email yet. It appears here as it arrives, and is kept for 30 days.</p>`,
    columns: [
      {
        title: 'Subject',
        cell: ({ inbound_id, subject }) =>
          html`<a href="${visit.path(receivedPath(inbound_id))}">${subject === '' ? 'No subject' : short(subject, 100)}</a>`,
      },
      { title: 'From', cell: ({ from }) => short(from, 80) },
      {
        title: 'Attachments',
        kind: 'number',
        cell: ({ attachments }) => (attachments.length === 0 ? '' : String(attachments.length)),
      },
      { title: 'Received', cell: ({ received_at }) => ago(visit, received_at) },
    ],
  });
}
