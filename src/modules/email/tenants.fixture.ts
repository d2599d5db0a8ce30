// Tenant-isolation fixture of mails, domains and inboxes, for the contract tests: creates them, and
// lists calls of another account that name them.

import type { TenantFixture } from '../../kit/tenant-fixture.ts';
import { randomText } from '../../lib/ids.ts';

const mail = { from: 'aa@example.com', to: 'bb@example.org', subject: 'S', text: 'T' };
/** An address with an inbox exists once in the service. */
const inboxAddress = () => `${randomText(12).toLowerCase()}@inbox.example.com`;

export const tenants: TenantFixture = {
  first: 'email.send',
  nobody: {
    mail: `eml_${'1'.repeat(22)}`,
    domain: 'zz.example.org',
    inbox: `inb_${'1'.repeat(22)}`,
    inbound: `eml_in_${'1'.repeat(22)}`,
  },
  async fill({ act }) {
    await act('email.send', { ...mail, idempotency_key: 'shared' });
    await act('email.batch.send', { items: [mail] });
    for (const domain of ['aa.example.org', 'ab.example.org']) await act('email.domain.verify', { domain });
    for (const address of ['aa@example.net', 'ab@example.net']) await act('email.suppression.add', { address });
    const [address, second] = [inboxAddress(), inboxAddress()];
    const { inbox_id: inbox } = await act('email.inbox.create', { address });
    await act('email.inbox.create', { address: second });
    for (const subject of ['aa', 'ab']) await act('email.send', { ...mail, subject, to: address });
    const received = await act('email.inbox.messages', { inbox_id: inbox });
    const later = { ...mail, send_at: new Date(Date.now() + 3_600_000).toISOString() };
    const { email_id: mailId } = await act('email.send', later);
    return { mail: mailId, domain: 'aa.example.org', inbox, inbound: received.items[0].inbound_id };
  },
  async fillOther({ act }) {
    const { inbox_id: inbox } = await act('email.inbox.create', { address: inboxAddress() });
    return { mail: (await act('email.send', mail)).email_id, inbox };
  },
  aims: {
    'email.send': [],
    'email.batch.send': [],
    'email.list': [],
    'email.get': [(names) => ({ email_id: names.mail })],
    'email.raw': [(names) => ({ email_id: names.mail })],
    'email.cancel': [(names) => ({ email_id: names.mail })],
    // Two accounts may prove one domain.
    'email.domain.verify': [],
    // Each account has a list of its own.
    'email.suppression.add': [],
    'email.suppression.delete': [],
    'email.inbox.create': [],
    'email.inbox.get': [(names) => ({ inbox_id: names.inbox })],
    'email.inbox.delete': [(names) => ({ inbox_id: names.inbox })],
    'email.inbox.messages': [(names) => ({ inbox_id: names.inbox })],
    // Each account sees its own.
    'email.received.list': [],
    'email.received': [(names) => ({ inbound_id: names.inbound })],
    'email.received.raw': [(names) => ({ inbound_id: names.inbound })],
    'email.reply': [(names) => ({ inbound_id: names.inbound, text: 'T' })],
    // For mail servers of the operator: the envelope says whose it is.
    'email.inbound': [],
  },
  lists: {
    'email.inbox.messages': (names) => ({ inbox_id: names.inbox }),
  },
  keyed: [
    ['email.send', mail],
    ['email.batch.send', { items: [mail] }],
  ],
};
