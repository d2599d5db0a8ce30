// The inboxes of the account, and a new one.
import { field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { queueField } from '../../../kit/console/pick.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, count, short } from '../../../kit/console/text.ts';
import { html } from '../../../lib/html.ts';
import { createInbox } from '../capabilities/inbox/create.ts';
import { listInboxes } from '../capabilities/inbox/list.ts';
import { inboxMessages } from '../capabilities/inbox/messages.ts';
import { emailTabs, INBOXES, inboxPath } from './tabs.ts';

export const inboxesPage = listPage({
  name: 'email_inboxes',
  path: INBOXES,
  title: 'Inboxes',
  caption: 'All inboxes',
  list: listInboxes,
  intro: 'An inbox receives mail at an address of a verified domain: codes, answers, tickets.',
  above: (visit) => emailTabs(visit, INBOXES),
  empty: (visit) =>
    teach(
      'No inboxes. To create one and wait for mail:',
      visit.samples([
        [createInbox, { address: 'agent@inbox.test' }],
        [inboxMessages, { inbox_id: 'inb_…', wait_seconds: 20 }],
      ]),
    ),
  columns: (visit) => [
    {
      title: 'Address',
      cell: ({ inbox_id, address }) => html`<a href="${visit.path(inboxPath(inbox_id))}">${short(address, 100)}</a>`,
    },
    { title: 'Mail', kind: 'number', cell: ({ message_count }) => count(message_count) },
    {
      title: 'Queue',
      cell: ({ queue }) => (queue === null ? html`<span class="quiet">none</span>` : short(queue, 60)),
    },
    { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
  ],
  create: {
    capability: createInbox,
    heading: 'New inbox',
    input: (form) => ({ address: textOf(form, 'address'), queue: textOf(form, 'queue') }),
    done: 'Inbox created.',
    next: ({ inbox_id: id }) => inboxPath(id),
    form: async (visit, act) =>
      html`${field(visit, act, { name: 'address', label: 'Address', isRequired: true, hint: 'In a verified domain whose MX record names this service. Names that end in .test receive mail of this service alone.', attributes: html`inputmode="email" spellcheck="false" autocapitalize="off" placeholder="tickets@mail.example.org"` })}
${await queueField(visit, act, { name: 'queue', label: 'Queue', hint: 'Each mail also becomes a message there, paid as queue.publish. Empty: none.' })}
<button class="main">Create inbox</button>`,
  },
});
