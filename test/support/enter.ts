// How work that no call asked for enters an account.

import type { Enter } from '../../src/core/callers/enter.ts';
import { lockCaller } from '../../src/core/callers/lock.ts';

export function entering(accountId: string): Enter {
  return async (tx) => ({ nowMs: await lockCaller(tx, accountId) });
}
