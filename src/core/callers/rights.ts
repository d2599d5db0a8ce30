// Ordering of changes of rights and writes that use them, by the account row. A revocation locks the row until its commit. A write that checks
// its caller last takes a share lock until its own commit. So the later of the two sees the other.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

const hold = statement(
  'account_hold_rights',
  'SELECT a.account_id FROM core.account a WHERE a.account_id = $1 FOR UPDATE',
);
const share = statement(
  'account_share_rights',
  'SELECT a.account_id FROM core.account a WHERE a.account_id = $1 FOR SHARE',
);

/** Before a key is revoked or narrowed, or an account suspended; under the account's lock. */
export async function holdRights(tx: Queryable, accountId: string): Promise<void> {
  await tx.query(hold, [accountId]);
}

/** Before rights are read for the last time in a transaction. */
export async function shareRights(tx: Queryable, accountId: string): Promise<void> {
  await tx.query(share, [accountId]);
}
