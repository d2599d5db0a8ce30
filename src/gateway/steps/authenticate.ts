// Bearer key -> account and key. One answer for unknown, revoked and expired keys (contract §2).
import { problem } from '../../problems/problem.ts';
import type { Step } from '../step.ts';

const BEARER = /^Bearer +([^\s]+) *$/i;

export const authenticate: Step = async (call, gateway) => {
  const header = call.request.headers.authorization;
  const secret = call.secret === undefined ? bearer(header) : call.secret;
  const key = secret === null ? null : await gateway.core.keys.find(secret);
  if (key !== null) {
    call.authenticate(key);
    if (key.suspended) throw problem('ACCOUNT_SUSPENDED');
    return;
  }
  const retryAfterMs = gateway.failedLogins.fail(call.request.remoteAddress);
  if (retryAfterMs > 0) {
    throw problem('RATE_LIMITED', { message: 'Too many calls with a wrong key from this address.', retryAfterMs });
  }
  if (secret !== null) throw problem('INVALID_API_KEY');
  if (call.secret === null) throw problem('UNAUTHORIZED');
  throw problem('UNAUTHORIZED', {
    message:
      header === undefined
        ? 'The Authorization header is missing.'
        : 'The Authorization header is not `Bearer <API_KEY>`.',
  });
};

function bearer(header: string | undefined): string | null {
  return header === undefined ? null : (BEARER.exec(header)?.[1] ?? null);
}
