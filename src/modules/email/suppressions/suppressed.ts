// Suppression list: addresses that get no mail of an account. It is queried for all mails of a lane at once, and extended by bounces,
// complaints, unsubscribes and callers. Addresses are compared in lower case.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';

export type SuppressionReason = 'bounce' | 'complaint' | 'unsubscribe' | 'manual';

const findAmong = statement(
  'email_find_suppressed',
  `SELECT s.account_id, s.address, s.reason
     FROM unnest($2::text[], $3::text[]) u(account_id, address)
     JOIN email.suppression s ON s.account_id = u.account_id AND s.address = u.address
    WHERE s.account_id = ANY($1::text[])`,
);
const insert = statement(
  'email_suppress',
  `INSERT INTO email.suppression (account_id, address, reason, email_id, created_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (account_id, address) DO NOTHING`,
);

interface FoundRow {
  readonly account_id: string;
  readonly address: string;
  readonly reason: SuppressionReason;
}

/**
 * Of the pairs (accountIds[i], addresses[i]) those that are suppressed, each with its reason, by `account\naddress` with the address in
 * lower case.
 */
export async function suppressedAmong(
  tx: Queryable,
  accountIds: readonly string[],
  addresses: readonly string[],
): Promise<Map<string, SuppressionReason>> {
  if (addresses.length === 0) return new Map();
  const { rows } = await tx.query<FoundRow>(findAmong, [
    textArray([...new Set(accountIds)].sort()),
    textArray(accountIds),
    textArray(addresses.map((address) => address.toLowerCase())),
  ]);
  return new Map(rows.map(({ account_id, address, reason }) => [suppressionKey(account_id, address), reason]));
}

/** What `suppressedAmong` answers by. */
export function suppressionKey(accountId: string, address: string): string {
  return `${accountId}\n${address.toLowerCase()}`;
}

export interface NewSuppression {
  readonly accountId: string;
  readonly address: string;
  readonly reason: SuppressionReason;
  /** The mail that led to it; null: none did. */
  readonly emailId: string | null;
  readonly nowMs: number;
}

/** True: it was not suppressed before. One that is keeps its first reason. */
export async function suppress(
  tx: Transaction,
  { accountId, address, reason, emailId, nowMs }: NewSuppression,
): Promise<boolean> {
  const { count } = await tx.query(insert, [accountId, address.toLowerCase(), reason, emailId, timestamp(nowMs)]);
  return count === 1;
}
