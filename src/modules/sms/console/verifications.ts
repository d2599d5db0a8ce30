// Verifications: whose number was asked for a code, and what came of it. No page shows a code.
import { listPage } from '../../../kit/console/list-page.ts';
import { badge, teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { get } from '../capabilities/get.ts';
import { verifyList } from '../capabilities/verify-list.ts';
import { verifyStart } from '../capabilities/verify-start.ts';

type Verification = ItemOf<typeof verifyList>;

export const verificationsPage = listPage({
  name: 'sms_verifications',
  path: '/sms/verifications',
  list: verifyList,
  title: 'Verifications',
  back: { title: 'SMS', path: '/sms' },
  intro: 'Codes that prove a number: each counts once, and ends after five wrong tries.',
  caption: 'Verifications',
  filter: { name: 'status', label: 'Status of verifications', values: ['pending', 'approved', 'expired', 'failed'] },
  empty: (visit) =>
    teach('No verifications yet. To send a code:', visit.samples([[verifyStart, { to: '+12025550123' }]])),
  columns: (visit) => [
    { title: 'To', cell: (one) => to(visit, one) },
    { title: 'Status', cell: (one) => state(visit, one) },
    { title: 'Tries left', kind: 'number', cell: ({ attempts_left: left }) => String(left) },
    { title: 'Started', cell: ({ created_at: at }) => ago(visit, at) },
    { title: 'Expires', cell: ({ expires_at: at }) => ago(visit, at) },
  ],
});

function to(visit: Visit, { channel, to: address, message_id: id }: Verification): Html {
  return channel === 'sms' && id !== null && visit.may(get)
    ? html`<a href="${visit.path(`/sms/${id}`)}">${short(address, 80)}</a>`
    : short(address, 80);
}

function state({ nowMs }: Visit, { status, expires_at: end }: Verification): Html {
  const shown = status === 'pending' && Date.parse(end) <= nowMs ? 'expired' : status;
  return badge(
    shown,
    shown === 'approved' ? 'good' : shown === 'failed' ? 'critical' : shown === 'pending' ? 'warning' : 'plain',
  );
}
