// Permission to send from a domain: the account has proved it, the operator trusts it, or the name is reserved and reaches nobody.
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

/**
 * `verified`: proved by the account. `trusted`: named in EMAIL_TRUSTED_DOMAINS, open to every account. `reserved`: it exists nowhere
 * (RFC 2606, RFC 6761), so it is good for the outbox alone.
 */
export type DomainStanding = 'verified' | 'reserved' | 'trusted' | 'unverified';

const RESERVED = ['test', 'example', 'invalid', 'localhost', 'example.com', 'example.net', 'example.org'];

const findVerified = statement(
  'email_find_verified_domain',
  `SELECT 1 AS found FROM email.domain WHERE account_id = $1 AND domain = $2 AND status = 'verified'`,
);

/** `domain` in lower case, ASCII. A domain stands for itself: its subdomains are proved apart. */
export async function domainStanding(
  db: Queryable,
  accountId: string,
  domain: string,
  settings: { readonly trustedDomains: readonly string[] },
): Promise<DomainStanding> {
  if (settings.trustedDomains.includes(domain)) return 'trusted';
  const { rows } = await db.query(findVerified, [accountId, domain]);
  if (rows.length > 0) return 'verified';
  return isReserved(domain) ? 'reserved' : 'unverified';
}

/** Whether the name, or one above it, is set aside for tests and documents. */
export function isReserved(domain: string): boolean {
  return RESERVED.some((name) => domain === name || domain.endsWith(`.${name}`));
}
