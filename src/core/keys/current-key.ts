// The key that made something, as it is when background work acts for it later.
import { problem } from '../../problems/problem.ts';
import { type ApiKey, invalidKey } from './api-key.ts';
import type { KeyRing } from './ring.ts';

/** Throws INVALID_API_KEY for a key that has ended or is of no such account, ACCOUNT_SUSPENDED. */
export async function currentKey(keys: KeyRing, accountId: string, keyId: string): Promise<ApiKey> {
  const [current] = await keys.secretsOf(keyId);
  const found = current === undefined ? 'unknown' : await keys.findByHash(current);
  if (typeof found === 'string') throw invalidKey(found);
  // It may have gone over into another account, which is not to pay.
  if (found.accountId !== accountId) throw invalidKey('unknown');
  if (found.suspended) throw problem('ACCOUNT_SUSPENDED');
  return found;
}
