// Shared parts of the pages of sent mail: types and status badge.
import { badge } from '../../../kit/console/table.ts';
import type { DataOf } from '../../../kit/console/visit.ts';
import type { Html } from '../../../lib/html.ts';
import type { get } from '../capabilities/get.ts';

export type Mail = DataOf<typeof get>;
export type Status = Mail['status'];

const kinds: Readonly<Partial<Record<Status, 'good' | 'warning' | 'critical'>>> = {
  ...({ sent: 'good', delivered: 'good', deferred: 'warning', indeterminate: 'warning' } as const),
  ...({ suppressed: 'warning', bounced: 'critical', failed: 'critical' } as const),
};

export function statusBadge(status: Status): Html {
  return badge(status, kinds[status] ?? 'plain');
}
