// The operator's one-time link: a person with access to the command line opens a session of the operator's account, once, within ten minutes.
// Only the link's hash is stored.

import { createHash, randomBytes } from 'node:crypto';
import type { Database, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { createAccount } from '../accounts/accounts.ts';
import { operatorAccount } from '../accounts/operator.ts';
import { clockNow } from '../database-clock.ts';

export const LINK_LIVES_MS = 10 * MINUTE_MS;
const TOKEN = /^[0-9A-Za-z_-]{43}$/;

const lockOperator = statement(
  'operator_lock',
  `SELECT s.value FROM core.setting s WHERE s.name = 'operator_account' FOR UPDATE`,
);
const recordOperator = statement(
  'operator_record_made',
  `UPDATE core.setting SET value = $1 WHERE name = 'operator_account'`,
);
const insertLink = statement(
  'operator_link_insert',
  'INSERT INTO core.operator_link (link_hash, account_id, expires_at) VALUES ($1, $2, $3)',
);
const takeLink = statement(
  'operator_link_take',
  'DELETE FROM core.operator_link WHERE link_hash = $1 RETURNING account_id, expires_at',
);
const deleteOld = statement('operator_link_delete_old', 'DELETE FROM core.operator_link WHERE expires_at <= $1');

/** The token of a new link; null: no service has started on this database. Makes the operator's account where there is none. */
export async function createOperatorLink(tx: Transaction, nowMs: number): Promise<string | null> {
  const { rows } = await tx.query<{ value: string }>(lockOperator, []);
  const [row] = rows;
  if (row === undefined) return null;
  const accountId = row.value || (await makeOperator(tx));
  const token = randomBytes(32).toString('base64url');
  await tx.query(deleteOld, [timestamp(nowMs)]);
  await tx.query(insertLink, [hashOf(token), accountId, timestamp(nowMs + LINK_LIVES_MS)]);
  return token;
}

/** Where a link leads to. */
export function operatorLinkUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/auth/operator/${token}`;
}

/** For whoever started the service; null where the base URL is not this machine, or nobody is the operator. */
export async function linkOnThisMachine(core: {
  readonly db: Database;
  readonly baseUrl: string;
}): Promise<string | null> {
  if (!isLoopback(new URL(core.baseUrl).hostname) || (await operatorAccount(core.db)) === null) return null;
  const token = await core.db.transaction(async (tx) => createOperatorLink(tx, await clockNow(tx)));
  return token === null ? null : operatorLinkUrl(core.baseUrl, token);
}

/** Uses a link up. Answers the operator's account; null: there is no such link, or not any more. */
export async function useOperatorLink(tx: Transaction, token: string, nowMs: number): Promise<string | null> {
  if (!TOKEN.test(token)) return null;
  const { rows } = await tx.query<{ account_id: string; expires_at: number }>(takeLink, [hashOf(token)]);
  const [row] = rows;
  return row === undefined || row.expires_at <= nowMs ? null : row.account_id;
}

async function makeOperator(tx: Transaction): Promise<string> {
  const accountId = await createAccount(tx, { name: 'operator' });
  await tx.query(recordOperator, [accountId]);
  return accountId;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
