// Changes of another account by the operator. Runs under both accounts' locks, re-checks the caller there, and applies once for each idempotency
// key.

import { runWrite } from '../../core/idempotency/write.ts';
import type { Transaction } from '../../db/database.ts';
import type { CallContext } from '../../kit/services.ts';
import type { Problem } from '../../problems/problem.ts';
import { noAccount } from './schemas.ts';

/** Money that was given, or decided on, is not given again for as long as a repeated call may come. */
export const replay = { keepDays: 30 } as const;

/** Runs `change`, whose null means that what was named does not exist. Throws NOT_FOUND, and what `enter` and `runWrite` throw. */
export function act(
  ctx: CallContext,
  accountId: string,
  change: (tx: Transaction) => Promise<object | null>,
  missing: () => Problem = noAccount,
) {
  const body = async (tx: Transaction) => {
    const done = await change(tx);
    if (done === null) throw missing();
    return done;
  };
  return runWrite(ctx, body, { ...replay, other: accountId });
}
