// The mail that the account has sent, by status, and a new one.
import { checkbox, field, textOf } from '../../../kit/console/form.ts';
import { instantField, instantOf } from '../../../kit/console/instant-field.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { actOf } from '../../../kit/console/page.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { list } from '../capabilities/list.ts';
import { send } from '../capabilities/send.ts';
import { statusBadge } from './mail-parts.ts';
import { emailTabs, mailPath, SENT } from './tabs.ts';

type Item = ItemOf<typeof list>;

export const mailsPage = listPage({
  name: 'email',
  path: SENT,
  nav: { label: 'Email', key: 'm', group: 'reach' },
  title: 'Email',
  caption: 'Sent email',
  list,
  above: (visit) => emailTabs(visit, SENT),
  filter: {
    name: 'status',
    label: 'Status of email',
    values: ['delivered', 'sent', 'scheduled', 'deferred', 'bounced', 'failed'],
  },
  search: [
    { name: 'recipient', label: 'Recipient', placeholder: 'ada@example.org' },
    { name: 'subject', label: 'Subject' },
  ],
  empty: (visit) =>
    isSearch(visit)
      ? html`<p>No email found on this page of the last 30 days.</p>`
      : teach('No email of the last 30 days. To send one:', firstCall(visit)),
  columns: (visit) => [
    { title: 'To', cell: (mail) => html`<a href="${visit.path(mailPath(mail.email_id))}">${recipientsText(mail)}</a>` },
    { title: 'Status', cell: (mail) => statusBadge(mail.status, mail) },
    {
      title: 'Subject',
      cell: ({ subject }) => (subject === '' ? html`<span class="quiet">none</span>` : short(subject, 100)),
    },
    { title: 'From', cell: ({ from }) => short(from, 60) },
    { title: 'Sent', cell: (mail) => whenOf(visit, mail) },
  ],
  create: {
    ...actOf({
      capability: send,
      input: (form, visit) => ({
        from: textOf(form, 'from'),
        subject: form.get('subject') ?? '',
        to: addressesOf(form, 'to'),
        cc: addressesOf(form, 'cc'),
        bcc: addressesOf(form, 'bcc'),
        text: textOf(form, 'text'),
        html: textOf(form, 'html'),
        send_at: instantOf(form, 'send_at', visit),
        unsubscribe: form.has('unsubscribe') || undefined,
      }),
      done: 'Email accepted.',
      next: ({ email_id: id }) => mailPath(id),
    }),
    capability: send,
    heading: 'Send email',
    form: sendForm,
  },
});

function isSearch({ query }: Visit): boolean {
  return ['recipient', 'subject', 'status'].some((name) => (query.get(name) ?? '') !== '');
}

/** `ada@example.org and 2 more` */
function recipientsText({ to, recipients }: Item): Html {
  const [first = recipients[0]?.address ?? ''] = to;
  const more = recipients.length - 1;
  return html`${short(first, 80)}${more > 0 ? ` and ${more} more` : ''}`;
}

function whenOf(visit: Visit, { status, send_at, sent_at, created_at }: Item): Html {
  return ago(visit, status === 'scheduled' ? send_at : (sent_at ?? created_at));
}

/** Separated by commas; undefined: none. */
function addressesOf(form: URLSearchParams, name: string): string[] | undefined {
  const addresses = (form.get(name) ?? '').split(/[,;\n]/).map((address) => address.trim());
  const given = addresses.filter((address) => address !== '');
  return given.length === 0 ? undefined : given;
}

function sendForm(visit: Visit, act: string): Html {
  const address = html`spellcheck="false" autocapitalize="off"`;
  return html`${field(visit, act, { name: 'from', label: 'From', isRequired: true, hint: 'In a verified domain. Without a relay, example.com and names that end in .test work too.', attributes: html`${address} placeholder="Ada <ada@mail.example.org>"` })}
${field(visit, act, { name: 'to', label: 'To', isRequired: true, hint: 'Several addresses are separated by commas.', attributes: address })}
<details id="more-recipients"><summary>Cc and Bcc</summary><div class="pair">${field(visit, act, { name: 'cc', label: 'Cc', attributes: address })}
${field(visit, act, { name: 'bcc', label: 'Bcc', attributes: address })}</div></details>
${field(visit, act, { name: 'subject', label: 'Subject', isRequired: true })}
${field(visit, act, { name: 'text', label: 'Text', rows: 8, attributes: html`spellcheck="true"` })}
${field(visit, act, { name: 'html', label: 'HTML', rows: 6, hint: 'Instead of text, or beside it.' })}
${instantField(visit, act, { name: 'send_at', label: 'Send at', hint: 'Empty: now.' })}
${checkbox(visit, act, { name: 'unsubscribe', label: 'Add a link to unsubscribe with one click' })}
<p><button class="main">Send email</button> <span class="quiet">$0.00046 per recipient.</span></p>`;
}

function firstCall(visit: Visit) {
  const hello = { subject: 'Hello', text: 'It works.' };
  return visit.samples([[send, { from: 'Agent <agent@example.com>', to: 'ada@example.org', ...hello }]]);
}
