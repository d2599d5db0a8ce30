// Whether a principal may call a capability at all.
import { scopesAllow } from '../core/callers/scopes.ts';
import { secretInGrace } from '../core/keys/api-key.ts';
import { problem } from '../problems/problem.ts';
import type { Call } from './call.ts';

/** Whether the principal may call the capability. Throws ACCOUNT_SUSPENDED, INSUFFICIENT_SCOPE. */
export function authorize({ principal, endpoint }: Pick<Call, 'principal' | 'endpoint'>): void {
  if (principal.suspended) throw problem('ACCOUNT_SUSPENDED');
  const { id, scope, anyKey, currentSecretOnly } = endpoint.capability;
  if (anyKey === true || scopesAllow(principal.scopes, id, scope)) {
    if (currentSecretOnly === true && !principal.isCurrent) throw secretInGrace();
    return;
  }
  throw problem('INSUFFICIENT_SCOPE', {
    message: `This key may not call ${id}: it needs a scope such as ${endpoint.module}:${scope} or ${id}.`,
    detail: `${endpoint.module}:${scope}`,
  });
}
