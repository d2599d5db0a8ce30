// Webhook events of mail.
import {
  type EventKind,
  type EventRecord,
  type EventWords,
  eventKind,
  inWords,
  member,
  membersOf,
  withoutCall,
} from '../../kit/event-kind.ts';
import { emailSchema } from './schemas.ts';

const mail = (status: string, code: string | null, detail: string | null) => ({
  email_id: 'eml_0vTq3mXkfR7bYc1LpZs8Ne',
  from: 'Billing <billing@example.com>',
  to: ['ada@example.org'],
  subject: 'Your invoice of November',
  status,
  recipients: [
    { address: 'ada@example.org', kind: 'to', status, code, detail, changed_at: '2026-11-01T12:00:00.000Z' },
  ],
  vendor: 'smtp',
  captured: false,
  message_id: '<eml_0vTq3mXkfR7bYc1LpZs8Ne@example.com>',
  tags: ['invoice'],
  send_at: '2026-11-01T11:59:58.000Z',
  created_at: '2026-11-01T11:59:58.000Z',
  sent_at: status === 'queued' || status === 'cancelled' ? null : '2026-11-01T12:00:00.000Z',
});

const whom = member.texts('Recipients that it concerns.', 'ada@example.org');
const ofMail = (
  type: string,
  summary: string,
  [status, code, detail]: readonly [string, (string | null)?, (string | null)?],
  beside: Parameters<typeof eventKind>[3] = { recipients: whom },
) => eventKind(type, summary, membersOf(emailSchema, mail(status, code ?? null, detail ?? null)), beside);

const path: EventWords['path'] = (of) => `/email/sent/${of.email_id}`;
const toWhom = (of: EventRecord) => (of.recipients as readonly { readonly address: string }[])[0]?.address ?? 'nobody';
const words = (what: string, tone?: EventWords['tone']): EventWords => ({
  one: (of) => `Mail to ${toWhom(of)} ${what}: “${of.subject}”`,
  many: (_, count) => `${count} mails ${what}`,
  path,
  ...(tone === undefined ? {} : { tone }),
});

const REPORT = 'The receiving server reports it.';
const IN_THE_BACKGROUND = 'A mail is sent in the background.';

export const emailEvents: readonly EventKind[] = withoutCall(
  {
    'email.sent': IN_THE_BACKGROUND,
    'email.delivered': REPORT,
    'email.deferred': IN_THE_BACKGROUND,
    'email.bounced': REPORT,
    'email.complained': REPORT,
    'email.opened': 'The pixel of a mail was loaded.',
    'email.clicked': 'A link of a mail was followed.',
    'email.unsubscribed': 'The link to unsubscribe was used.',
    'email.auto_suppressed': REPORT,
  },
  inWords(
    {
      'email.queued': words('accepted'),
      'email.sent': words('sent'),
      'email.delivered': words('delivered', 'good'),
      'email.deferred': words('deferred', 'warning'),
      'email.bounced': words('bounced', 'critical'),
      'email.complained': words('reported as unwanted', 'critical'),
      'email.opened': words('opened'),
      'email.clicked': words('clicked'),
      'email.cancelled': words('cancelled'),
      'email.unsubscribed': words('unsubscribed'),
      'email.auto_suppressed': { one: (_, { address }) => `No more mail to ${address}`, path, tone: 'warning' },
    },
    [
      ofMail('email.queued', 'An e-mail was accepted and waits to be sent.', ['queued'], {}),
      ofMail('email.sent', 'A relay took an e-mail.', ['sent', '2.0.0', '250 2.0.0 Ok: queued as 4XJ']),
      ofMail('email.delivered', 'An e-mail arrived, or the outbox keeps it.', ['delivered', '2.0.0']),
      ofMail('email.deferred', 'A server asked to try an e-mail again later.', [
        'deferred',
        '4.2.2',
        '450 4.2.2 Mailbox full',
      ]),
      ofMail('email.bounced', 'An e-mail was refused for good, or was deferred too often.', [
        'bounced',
        '5.1.1',
        '550 5.1.1 No such user',
      ]),
      ofMail('email.complained', 'A recipient reported an e-mail as unwanted.', ['delivered']),
      ofMail('email.opened', 'A recipient opened an e-mail.', ['delivered']),
      ofMail('email.clicked', 'A recipient followed a link of an e-mail.', ['delivered'], {
        recipients: whom,
        url: member.text('Where the link leads.', 'https://example.com/invoices/1'),
      }),
      ofMail('email.cancelled', 'An e-mail was cancelled before it was sent.', ['cancelled']),
      ofMail('email.unsubscribed', 'A recipient unsubscribed.', ['delivered']),
      ofMail(
        'email.auto_suppressed',
        'An address gets no more mail of the account, for it bounced or complained.',
        ['bounced', '5.1.1'],
        {
          address: member.text('The address.', 'ada@example.org'),
          reason: member.word('Why.', 'bounce', 'complaint', 'unsubscribe'),
        },
      ),
    ],
  ),
);
