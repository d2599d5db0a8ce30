// Bearer key -> account and key. What this deployment did not mint fails without a read of the database, so that an address that
// keeps failing costs none; a valid key passes from every address (contract §2, §6).
import { invalidKey } from '../../core/keys/record.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import type { Call } from '../call.ts';
import type { Step } from '../step.ts';

const BEARER = /^Bearer +([^\s]+) *$/i;
/** Nothing that could be a key: an empty header, `Bearer` alone, or another scheme. */
const NO_KEY = /^\s*(?:Bearer\s*|(?!Bearer\s)[^\s]+\s+[^\s].*)?$/i;

export const authenticate: Step = async (call, gateway) => {
  const secret = call.secret === undefined ? bearerOf(call) : call.secret;
  const found = secret === null ? null : await gateway.core.keys.find(secret);
  if (found !== null && typeof found !== 'string') {
    call.authenticate(found);
    if (found.suspended) throw problem('ACCOUNT_SUSPENDED');
    return;
  }
  const retryAfterMs = gateway.failedLogins.fail(call.request.remoteAddress);
  if (retryAfterMs > 0) {
    throw problem('RATE_LIMITED', { message: 'Too many calls with a wrong key from this address.', retryAfterMs });
  }
  throw found === null ? withoutKey(call) : invalidKey(found);
};

function bearerOf({ request: { headers } }: Call): string | null {
  return BEARER.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** UNAUTHORIZED when no key was sent, INVALID_API_KEY when one stands there in the wrong form. */
function withoutKey(call: Call): Problem {
  const { authorization } = call.request.headers;
  if (call.secret === null) return problem('UNAUTHORIZED');
  if (authorization === undefined) return problem('UNAUTHORIZED', { message: 'The Authorization header is missing.' });
  const message = 'The Authorization header is not `Bearer <API_KEY>`.';
  return problem(NO_KEY.test(authorization) ? 'UNAUTHORIZED' : 'INVALID_API_KEY', { message });
}
