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

/** Of a mail, or of one recipient of it. Green is for what left the service. */
export function statusBadge(status: Status, { captured }: Pick<Mail, 'captured'>): Html {
  if (captured && kinds[status] === 'good') return badge('kept in the outbox');
  return badge(status, kinds[status] ?? 'plain');
}
