// Shared parts of the domain pages: types, path, status badge and the required records that are not valid yet.
import { badge } from '../../../kit/console/table.ts';
import type { DataOf } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { get } from '../capabilities/domain/get.ts';
import { DOMAINS } from './tabs.ts';

export type Domain = DataOf<typeof get>;
export type DomainRecord = Domain['records'][number];

export function domainPath(domain: string): string {
  return `${DOMAINS}/${encodeURIComponent(domain)}`;
}

export function domainBadge({ status }: Pick<Domain, 'status'>): Html {
  return badge(status, status === 'verified' ? 'good' : status === 'pending' ? 'warning' : 'critical');
}

/** The required ones. */
export function recordsLeft({ records }: Pick<Domain, 'records'>): Html | string {
  const left = records.filter(({ required, status }) => required && status !== 'ok');
  if (left.length === 0) return html`<span class="quiet">none</span>`;
  return left.map(({ purpose }) => purpose.toUpperCase()).join(', ');
}
