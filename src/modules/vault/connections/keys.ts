// Keys that a rule names.
import { findKey } from '../../../core/keys/store.ts';
import type { Transaction } from '../../../db/database.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField } from '../../../problems/problem.ts';

/** Throws VALIDATION_FAILED for the first that the account does not have. */
export async function requireKeys(
  tx: Transaction,
  { accountId }: Pick<CallContext, 'accountId'>,
  keys: readonly string[],
): Promise<void> {
  for (const [i, id] of keys.entries()) {
    if ((await findKey(tx, accountId, id)) === null)
      throw invalidField(`keys[${i}]`, 'unknown_key', 'The account has no such key; account.keys.list has them all.');
  }
}
