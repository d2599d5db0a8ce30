// SQL of domains. A check writes its result only while no other check has begun: `attempt` is the fence.

import { dueTable } from '../../../core/background/due-table.ts';
import type { CountedLimit } from '../../../core/callers/tiers.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { resourceTable } from '../../../kit/resource.ts';
import type { DomainStatus, Judged } from './judge.ts';
import type { DomainRecord } from './records.ts';

export interface DomainRow {
  readonly domain: string;
  readonly status: DomainStatus;
  /** JSON of DomainRecord[]. */
  readonly records: string;
  readonly checked_at: number | null;
  readonly missing_since: number | null;
  readonly attempt: number;
  readonly created_at: number;
}

const LEASE_MS = 60_000;

const upsert = statement(
  'email_save_domain',
  `INSERT INTO email.domain AS d (account_id, domain, status, records, checked_at, verified_at, missing_since, due_at, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $5)
       ON CONFLICT (account_id, domain) DO UPDATE
      SET status = excluded.status, records = excluded.records, checked_at = excluded.checked_at,
          verified_at = CASE WHEN d.status = 'verified' THEN d.verified_at ELSE excluded.verified_at END,
          missing_since = excluded.missing_since, due_at = excluded.due_at, attempt = d.attempt + 1`,
);
const update = statement(
  'email_update_domain',
  `UPDATE email.domain
      SET status = $4, records = $5, checked_at = $6, missing_since = $8, due_at = $9,
          verified_at = CASE WHEN status = 'verified' THEN verified_at ELSE $7 END
    WHERE account_id = $1 AND domain = $2 AND attempt = $3`,
);

export const domainTable = resourceTable<DomainRow>({
  table: 'email.domain',
  key: 'domain',
  columns: 'domain, status, records, checked_at, missing_since, attempt, created_at',
  filters: ['status'],
});

export const domainDue = dueTable({ table: 'email.domain', key: 'domain', leaseMs: LEASE_MS });

/** By tier; account.tier shows it. */
export const domainLimits = {
  email_domains: {
    description: 'Domains that mail is sent from.',
    used: domainTable.count,
    standard: 100,
    pro: 1_000,
    enterprise: 10_000,
  },
} satisfies Readonly<Record<string, CountedLimit>>;

export interface Looked extends Judged {
  readonly records: readonly DomainRecord[];
  readonly nowMs: number;
}

/** Adds the domain, or replaces what is known of it; a look under way counts no more. */
export async function saveDomain(tx: Transaction, accountId: string, domain: string, looked: Looked): Promise<void> {
  const { status, records, nowMs, missing_since, dueMs } = looked;
  const at = [timestamp(nowMs), timestamp(verifiedMs(looked)), timestamp(missing_since), timestamp(dueMs)];
  await tx.query(upsert, [accountId, domain, status, JSON.stringify(records), ...at]);
}

/** What a look of the background found, unless the domain is gone or another look has begun. */
export async function updateDomain(
  db: Queryable,
  job: { readonly accountId: string; readonly id: string; readonly attempt: number },
  looked: Looked,
): Promise<void> {
  const { status, records, nowMs, missing_since, dueMs } = looked;
  const at = [timestamp(nowMs), timestamp(verifiedMs(looked)), timestamp(missing_since), timestamp(dueMs)];
  await db.query(update, [job.accountId, job.id, job.attempt, status, JSON.stringify(records), ...at]);
}

function verifiedMs({ status, nowMs }: Looked): number | null {
  return status === 'verified' ? nowMs : null;
}
