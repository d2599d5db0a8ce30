// SQL of CORS rules. storage.bucket has those of a bucket; storage.cors_bucket the same by the bucket's name, for preflights, which name no account.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { type CorsRule, corsHeaders, type KeptCorsRule, likePatterns, type PageRequest } from './cors.ts';

const updateCors = statement(
  'storage_update_cors',
  'UPDATE storage.bucket SET cors = $3 WHERE account_id = $1 AND bucket = $2',
);
const upsertName = statement(
  'storage_upsert_cors_bucket',
  `INSERT INTO storage.cors_bucket AS c (account_id, bucket, origins, rules) VALUES ($1, $2, $3, $4)
       ON CONFLICT (bucket, account_id) DO UPDATE SET origins = excluded.origins, rules = excluded.rules`,
);
const deleteName = statement(
  'storage_delete_cors_bucket',
  'DELETE FROM storage.cors_bucket WHERE account_id = $1 AND bucket = $2',
);
const selectCors = statement(
  'storage_select_cors',
  'SELECT cors FROM storage.bucket WHERE account_id = $1 AND bucket = $2',
);
const selectByName = statement(
  'storage_select_cors_by_name',
  `/* fan-out: rules of a bucket's name; every node holds this table whole */
   SELECT account_id, rules FROM storage.cors_bucket
    WHERE bucket = $1 AND account_id > $2 AND $3::text LIKE ANY (origins) ORDER BY account_id LIMIT $4::int`,
);

const ROWS_PER_PAGE = 20;
/** Buckets of one name, in accounts whose rules name the origin: more are not looked at. */
const ROWS_MAX = 200;

/** Empty: no page may. */
export async function saveCors(
  tx: Transaction,
  accountId: string,
  bucket: string,
  rules: readonly KeptCorsRule[],
): Promise<void> {
  const json = rules.length === 0 ? null : JSON.stringify(rules);
  await tx.query(updateCors, [accountId, bucket, json]);
  if (json === null) await forgetCors(tx, accountId, bucket);
  else await tx.query(upsertName, [accountId, bucket, textArray(likePatterns(rules)), json]);
}

export async function forgetCors(tx: Transaction, accountId: string, bucket: string): Promise<void> {
  await tx.query(deleteName, [accountId, bucket]);
}

/** What the rules of the account's bucket allow the page; null: nothing, and of a bucket that is not there. */
export async function corsOfBucket(
  db: Queryable,
  { accountId, bucket }: { readonly accountId: string; readonly bucket: string },
  page: PageRequest,
): Promise<Record<string, string> | null> {
  const { rows } = await db.query<{ cors: readonly CorsRule[] | null }>(selectCors, [accountId, bucket]);
  return corsHeaders(rows[0]?.cors ?? [], page);
}

/** The same where nobody knows the account: what the rules of any bucket of that name allow. */
export async function corsOfName(
  db: Queryable,
  bucket: string,
  page: PageRequest,
): Promise<Record<string, string> | null> {
  let after = '';
  for (let looked = 0; looked < ROWS_MAX; looked += ROWS_PER_PAGE) {
    const { rows } = await db.query<{ account_id: string; rules: readonly CorsRule[] }>(selectByName, [
      ...[bucket, after, page.origin, ROWS_PER_PAGE],
    ]);
    for (const { rules } of rows) {
      const headers = corsHeaders(rules, page);
      if (headers !== null) return headers;
    }
    if (rows.length < ROWS_PER_PAGE) return null;
    after = rows.at(-1)?.account_id ?? '';
  }
  return null;
}
