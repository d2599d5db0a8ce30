// How work that no call asked for enters an account.
import { lockCaller } from '../../src/core/accounts/accounts.ts';
import type { Enter } from '../../src/core/accounts/enter.ts';

export function entering(accountId: string): Enter {
  return async (tx) => ({ nowMs: await lockCaller(tx, accountId) });
}
