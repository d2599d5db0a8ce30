// Credential -> principal. A credential that this deployment did not mint fails without a database read, so repeated failures from an address
// cost none. A valid credential is accepted from every address (contract §2, §6).

import type { Principal } from '../core/callers/principal.ts';
import type { Credential } from '../core/credentials/credential.ts';
import { invalidKey } from '../core/keys/api-key.ts';
import { type Problem, problem } from '../problems/problem.ts';
import { authorize } from './authorize.ts';
import type { Call } from './call.ts';
import type { Gateway } from './gateway.ts';

/** `missing`: how it is told that there is no credential. Throws UNAUTHORIZED, INVALID_API_KEY, RATE_LIMITED. */
export async function identify(
  { core, failedLogins }: Pick<Gateway, 'core' | 'failedLogins'>,
  credential: Credential | null,
  remoteAddress: string,
  missing: () => Problem = () => problem('UNAUTHORIZED'),
): Promise<Principal> {
  const found = credential === null ? null : await credential.find(core);
  if (found !== null && typeof found !== 'string') return found;
  const retryAfterMs = await failedLogins.fail(remoteAddress);
  if (retryAfterMs > 0) {
    throw problem('RATE_LIMITED', { message: 'Too many calls with a wrong key from this address.', retryAfterMs });
  }
  throw found === null ? missing() : invalidKey(found);
}

const CONFIRM_AFTER_MS = 200;

/**
 * A body may take its time to arrive: who was looked up more than a moment ago is looked up again, so that a revocation that was
 * answered meanwhile holds for this call too.
 */
export async function confirm(call: Call): Promise<void> {
  if (call.identificationAgeMs < CONFIRM_AFTER_MS) return;
  const { principal } = call;
  const now = await principal.kind.again(principal);
  if (typeof now === 'string') throw principal.kind.refusal(now);
  call.setPrincipal(now);
  authorize(call);
}
