// Shared parts of the pages of approvals: addresses, tabs, states, and the calls that wait.
import { badge, pageTabs } from '../../../../kit/console/table.ts';
import type { ItemOf, Read, Visit } from '../../../../kit/console/visit.ts';
import type { Html } from '../../../../lib/html.ts';
import { approvalsList } from '../../capabilities/approvals/list.ts';

export type Approval = ItemOf<typeof approvalsList>;

export const APPROVALS = '/approvals';
export const RULES = '/approvals/rules';
export const DECIDED = 'decided';

/** As many as can wait at once. */
const WAITING_MAX = 100;

export function approvalPath(id: string): string {
  return `${APPROVALS}/${encodeURIComponent(id)}`;
}

export function rulePath(name: string): string {
  return `${RULES}/${encodeURIComponent(name)}`;
}

export function approvalTabs(visit: Visit, here: 'waiting' | 'decided' | 'rules'): Html {
  return pageTabs('Pages of approvals', [
    { text: 'Waiting', href: visit.path(APPROVALS), isHere: here === 'waiting' },
    { text: 'Decided', href: visit.path(`${APPROVALS}?view=${DECIDED}`), isHere: here === 'decided' },
    { text: 'Rules', href: visit.path(RULES), isHere: here === 'rules' },
  ]);
}

const states = {
  pending: ['waits', 'warning'],
  approved: ['approved', 'good'],
  used: ['approved, used', 'good'],
  denied: ['denied', 'critical'],
  expired: ['expired', 'plain'],
} as const;

export function stateOf({ status }: Pick<Approval, 'status'>): Html {
  const [text, kind] = states[status as keyof typeof states];
  return badge(text, kind);
}

const waiting = new WeakMap<Visit, Promise<Read<readonly Approval[]>>>();

/** The calls that wait, the newest first. Read once a visit: the page and the mark in the navigation tell the same. */
export function waitingCalls(visit: Visit): Promise<Read<readonly Approval[]>> {
  const known = waiting.get(visit);
  if (known !== undefined) return known;
  const reading = readWaiting(visit);
  waiting.set(visit, reading);
  return reading;
}

async function readWaiting(visit: Visit): Promise<Read<readonly Approval[]>> {
  const read = await visit.call(approvalsList, { status: 'pending', limit: WAITING_MAX });
  if (read.problem !== null) return read;
  // The list has expired ones too.
  return { ...read, data: read.data.items.filter(({ status }) => status === 'pending') };
}

/** How many wait; none for who may not see them. */
export async function countWaiting(visit: Visit): Promise<number> {
  if (!visit.may(approvalsList)) return 0;
  return (await waitingCalls(visit)).data?.length ?? 0;
}
