// Shared parts of the pages of sent mail: types and status badge.
import { badge } from '../../../kit/console/table.ts';
import type { DataOf } from '../../../kit/console/visit.ts';
import type { Html } from '../../../lib/html.ts';
import type { get } from '../capabilities/get.ts';

export type Mail = DataOf<typeof get>;
export type Status = Mail['status'];

const kinds: Readonly<Partial<Record<Status, 'good' | 'warning' | 'critical'>>> = {
  sent: 'good',
  delivered: 'good',
  queued: 'warning',
  scheduled: 'warning',
  deferred: 'warning',
  indeterminate: 'warning',
  suppressed: 'critical',
  bounced: 'critical',
  failed: 'critical',
};

/** What the outbox says of a recipient with an inbox of this service, who has the mail. */
const DELIVERED_HERE = /^Delivered to an inbox/;

export function recipientBadge({ status, detail }: Mail['recipients'][number], mail: Pick<Mail, 'captured'>): Html {
  return statusBadge(status, { captured: mail.captured && !DELIVERED_HERE.test(detail ?? '') });
}

/** Of a mail, or of one recipient of it. Green is for what left the service. */
export function statusBadge(status: Status, { captured }: Pick<Mail, 'captured'>): Html {
  if (captured && kinds[status] === 'good') return badge('kept in the outbox');
  return badge(status, kinds[status] ?? 'plain');
}
