// Caller of a batch's requests: the key that created the batch, in its current state.

import type { Principal } from '../../../core/callers/principal.ts';
import { scopesAllow } from '../../../core/callers/scopes.ts';
import { currentKey } from '../../../core/keys/current-key.ts';
import type { Services } from '../../../kit/services.ts';
import { problem } from '../../../problems/problem.ts';

/** Codes that every further request of the key would be refused with. */
export const refusesAll: ReadonlySet<string> = new Set([
  'INVALID_API_KEY',
  'ACCOUNT_SUSPENDED',
  'INSUFFICIENT_SCOPE',
  'INSUFFICIENT_CREDIT',
]);

/** Throws INVALID_API_KEY, ACCOUNT_SUSPENDED, INSUFFICIENT_SCOPE. */
export async function callerOf(
  { keys }: Pick<Services, 'keys'>,
  { accountId, keyId, capability }: { readonly accountId: string; readonly keyId: string; readonly capability: string },
): Promise<Principal> {
  const found = await currentKey(keys, accountId, keyId);
  requireScope(found, capability);
  return found;
}

/** Throws INSUFFICIENT_SCOPE. */
export function requireScope({ scopes }: Principal, capability: string): void {
  if (scopesAllow(scopes, capability, 'write')) return;
  throw problem('INSUFFICIENT_SCOPE', {
    message: `This key may not call ${capability}: it needs a scope such as ai:write or ${capability}.`,
    detail: 'ai:write',
  });
}
