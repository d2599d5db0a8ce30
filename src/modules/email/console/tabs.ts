// The pages of e-mail, as each of them names the others.
import { pageTabs } from '../../../kit/console/table.ts';
import type { Callable, Visit } from '../../../kit/console/visit.ts';
import type { Html } from '../../../lib/html.ts';

export const SENT = '/email';
export const INBOXES = '/email/inboxes';
export const DOMAINS = '/email/domains';
export const SUPPRESSIONS = '/email/suppressions';

const pages: readonly (readonly [text: string, path: string, needs: Callable])[] = [
  ['Sent', SENT, { id: 'email.list' }],
  ['Inboxes', INBOXES, { id: 'email.inbox.list' }],
  ['Domains', DOMAINS, { id: 'email.domain.list' }],
  ['Suppressions', SUPPRESSIONS, { id: 'email.suppression.list' }],
];

/** Those that the visitor may see. */
export function emailTabs(visit: Visit, here: string): Html {
  const shown = pages.filter(([, , needs]) => visit.may(needs));
  return pageTabs(
    'Pages of email',
    shown.map(([text, path]) => ({ text, href: visit.path(path), isHere: path === here })),
  );
}

export function mailPath(id: string): string {
  return `${SENT}/sent/${encodeURIComponent(id)}`;
}

export function inboxPath(id: string): string {
  return `${INBOXES}/${encodeURIComponent(id)}`;
}

export function receivedPath(id: string): string {
  return `/email/received/${encodeURIComponent(id)}`;
}
