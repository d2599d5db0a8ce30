// One inbox: the mail that it has received, and its end.
import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { resourcePages } from '../../../kit/console/resource-pages.ts';
import { more, table, teach } from '../../../kit/console/table.ts';
import { ago, countOf, short } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { deleteInbox } from '../capabilities/inbox/delete.ts';
import { getInbox } from '../capabilities/inbox/get.ts';
import { inboxMessages } from '../capabilities/inbox/messages.ts';
import { INBOXES, receivedPath } from './tabs.ts';

type Inbox = DataOf<typeof getInbox>;

const ROWS = 20;
const sought = { sender: 'Sender', subject: 'Subject' };
/** Mail that arrives tells no tick. */
const AGAIN_SECONDS = 5;

export const inboxPages = resourcePages<Inbox>({
  name: 'email_inbox',
  noun: 'inbox',
  path: `${INBOXES}/{inbox_id}`,
  list: { title: 'Inboxes', path: INBOXES },
  needs: getInbox,
  read: (visit) => visit.need(getInbox, { inbox_id: visit.params.inbox_id }),
  nameOf: ({ address }) => address,
  about,
  pages: [{ below: '', isLive: true, show }],
  deletion: {
    capability: deleteInbox,
    warning: () => 'Its mail is deleted with it, and mail to its address is refused.',
    effect(_, { address, message_count }) {
      const held = `${countOf(message_count, 'email')}, which ${message_count === 1 ? 'is' : 'are'} deleted with it`;
      return html`${short(address, 160)} holds ${held}. Mail to its address is refused from now on.`;
    },
  },
});

function about(visit: Visit, { inbox_id: id, message_count, created_at, queue }: Inbox): Html {
  const told = queue === null ? '' : html` · each mail also goes to queue <code>${short(queue, 80)}</code>`;
  return html`<p class="quiet">${countOf(message_count, 'email')} kept · created ${ago(visit, created_at)} · ${copiedId(id)}${told}</p>`;
}

async function show(visit: Visit, inbox: Inbox) {
  const { inbox_id } = inbox;
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(inboxMessages, { inbox_id, ...soughtOf(visit), cursor, limit: ROWS });
  const content = panel(
    visit,
    'Received email',
    list,
    (page) => html`${searchForm(visit)}${mails(visit, page.items, inbox)}${more(visit, page)}`,
  );
  return { content, againSeconds: AGAIN_SECONDS };
}

/** What the address asks for, as it was typed. */
function soughtOf({ query }: Visit): Readonly<Record<string, string>> {
  const typed = Object.keys(sought).map((name) => [name, query.get(name)?.trim() ?? ''] as const);
  return Object.fromEntries(typed.filter(([, text]) => text !== ''));
}

function searchForm(visit: Visit): Html {
  const fields = Object.entries(sought).map(
    ([name, label]) =>
      html`<label>${label} <input type="search" name="${name}" value="${visit.query.get(name) ?? ''}" spellcheck="false" autocapitalize="off"></label> `,
  );
  return html`<form method="get" class="row" role="search" aria-label="Search received email">${fields}<button>Search</button></form>`;
}

function mails(visit: Visit, rows: readonly ItemOf<typeof inboxMessages>[], { inbox_id, address }: Inbox): Html {
  return table({
    caption: 'Received email, the oldest first',
    rows,
    empty:
      Object.keys(soughtOf(visit)).length > 0
        ? html`<p>No email found.</p>`
        : teach(
            `No email yet. What is sent to ${address} appears here, and is kept for 30 days. To wait for it:`,
            visit.samples([[inboxMessages, { inbox_id, wait_seconds: 20 }]]),
          ),
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
