// What the books say of credit that goes from account to account.
import { textArray } from '../../src/db/arrays.ts';
import type { Queryable } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';

export interface Books {
  readonly balance: bigint;
  readonly held: bigint;
  readonly debt: bigint;
  readonly frozen: string | null;
  readonly expired: bigint;
  readonly back: bigint;
  readonly disputes: bigint;
  readonly leftBehind: bigint;
}

// $1: all accounts, $2: the one where the credit is.
const booksOf = statement(
  'test_payment_books',
  `/* fan-out: an account and those that went over into it */
   SELECT w.balance_nanos AS balance, w.held_nanos AS held, w.debt_nanos AS debt, w.frozen_reason AS frozen,
          (SELECT coalesce(-sum(amount_nanos), 0) FROM core.ledger WHERE account_id = ANY($1::text[]) AND kind = 'expire') AS expired,
          (SELECT coalesce(sum(amount_nanos), 0) FROM core.clawback
            WHERE account_id = ANY($1::text[]) AND status <> 'restored') AS back,
          (SELECT count(*) FROM core.clawback
            WHERE account_id = ANY($1::text[]) AND kind = 'dispute' AND status = 'pending') AS disputes,
          (SELECT count(*) FROM core.wallet l
            WHERE l.account_id = ANY($1::text[]) AND l.account_id <> $2
              AND (l.balance_nanos, l.held_nanos, l.debt_nanos, l.frozen_reason IS NULL) <> (0, 0, 0, true)) AS "leftBehind"
     FROM core.wallet w WHERE w.account_id = $2`,
);

/** What a provider does when a bank does not take a refund. */
export const bounceRefunds = statement(
  'test_model_bounce',
  `UPDATE core.sandbox_return SET status = 'failed' WHERE payment_ref = $1 AND kind = 'refund'`,
);

/** Of the wallet of `accountId`, with what stands in the books of all `accountIds`; leftBehind: others that have, or owe, anything. */
export async function readBooks(db: Queryable, accountIds: readonly string[], accountId: string): Promise<Books> {
  return (await db.query<Books>(booksOf, [textArray(accountIds), accountId])).rows[0] as Books;
}
