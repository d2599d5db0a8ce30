// Limit of open connections per account: sockets and streams together, counted across all processes behind one port.

import type { Principal } from '../../core/callers/principal.ts';
import type { Services } from '../../kit/services.ts';
import { problem } from '../../problems/problem.ts';
import { connections } from './limits.ts';

const RETRY_AFTER_MS = 10_000;

/** Answers what gives the place back, once. Throws CONCURRENCY_LIMITED. */
export async function enterConnection(
  { underWay }: Services,
  { accountId, tier }: Pick<Principal, 'accountId' | 'tier'>,
): Promise<() => void> {
  const name = `realtime connections of ${accountId}`;
  const max = connections[tier];
  if (!(await underWay.begin(name, max))) {
    const message = `The account has ${max} realtime connections open, the limit of its tier: close some first.`;
    throw problem('CONCURRENCY_LIMITED', { message, retryAfterMs: RETRY_AFTER_MS });
  }
  let isOpen = true;
  return () => {
    if (isOpen) underWay.end(name);
    isOpen = false;
  };
}
