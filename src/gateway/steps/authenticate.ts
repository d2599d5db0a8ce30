// Bearer key -> account and key. One answer for unknown, revoked and expired keys (contract §2).
import { problem } from '../../problems/problem.ts';
import type { Step } from '../step.ts';

const BEARER = /^Bearer +([^\s]+) *$/i;

export const authenticate: Step = async (call, gateway) => {
  const header = call.request.headers.authorization;
  const secret = header === undefined ? undefined : BEARER.exec(header)?.[1];
  const key = secret === undefined ? null : await gateway.core.keys.find(secret);
  if (key !== null) {
    call.authenticate(key);
    if (key.suspended) throw problem('ACCOUNT_SUSPENDED');
    return;
  }
  const retryAfterMs = gateway.failedLogins.fail(call.request.remoteAddress);
  if (retryAfterMs > 0) {
    throw problem('RATE_LIMITED', { message: 'Too many calls with a wrong key from this address.', retryAfterMs });
  }
  if (secret !== undefined) throw problem('INVALID_API_KEY');
  throw problem('UNAUTHORIZED', {
    message:
      header === undefined
        ? 'The Authorization header is missing.'
        : 'The Authorization header is not `Bearer <API_KEY>`.',
  });
};
