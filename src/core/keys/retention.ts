// Retention of keys: a revoked key is deleted after 30 days, with its secrets. A key with a spend cap keeps its row, because work that it set
// up, such as a scheduled job, is still charged under that cap.
import { textArray } from '../../db/arrays.ts';
import type { Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

export const findOldKeys = statement(
  'key_find_old',
  `/* fan-out: accounts with keys that were revoked 30 days ago */
   SELECT account_id FROM core.api_key
    WHERE revoked_at <= core.clock_now() - interval '30 days' AND spend_cap_nanos IS NULL
    GROUP BY account_id LIMIT $1`,
);
const selectOld = statement(
  'key_select_old',
  `SELECT key_id FROM core.api_key
    WHERE account_id = $1 AND revoked_at <= core.clock_now() - interval '30 days' AND spend_cap_nanos IS NULL
    LIMIT $2::int`,
);
const deleteSecrets = statement(
  'key_delete_old_secrets',
  `DELETE FROM core.api_secret WHERE account_id = $1 AND key_id = ANY($2::text[])`,
);
const deleteKeys = statement(
  'key_delete_old',
  `DELETE FROM core.api_key WHERE account_id = $1 AND key_id = ANY($2::text[])`,
);

/** Removes up to `limit` keys of the account; answers how many. A revoked key never changes back, so nothing needs a lock. */
export async function removeOldKeys(tx: Transaction, accountId: string, limit: number): Promise<number> {
  const { rows } = await tx.query<{ key_id: string }>(selectOld, [accountId, limit]);
  const keyIds = textArray(rows.map((row) => row.key_id));
  await Promise.all([tx.query(deleteSecrets, [accountId, keyIds]), tx.query(deleteKeys, [accountId, keyIds])]);
  return rows.length;
}
