// Resource definition of domains, shared by the operations of the module.
import Type from 'typebox';
import { instant, instantOrNull, textOrNull } from '../../../kit/fields.ts';
import type { Resource } from '../../../kit/resource.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';
import type { Domains } from './domains.ts';
import { domainKey } from './name.ts';
import type { DomainRecord } from './records.ts';
import { type DomainRow, domainTable } from './store.ts';

/** What operations on domains need of the module's state. */
export interface DomainsState {
  readonly domains: Domains;
}

export const domainField = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: '^[^\\s\\p{Cc}/@:]+$',
  description: 'A domain that you own, such as mail.example.org. It stands for itself: verify its subdomains apart.',
});

export const domainStatusField = Type.Enum(['pending', 'verified', 'failed'], {
  description:
    'pending: a required record is missing. verified: you may send. failed: the DKIM record was missing for three days.',
});

const recordSchema = Type.Object({
  purpose: Type.Enum(['dkim', 'spf', 'mx', 'dmarc', 'inbound'], {
    description:
      'dkim signs your mail; spf and mx let bounces come back; dmarc tells receivers your policy; inbound receives mail for inboxes.',
  }),
  type: Type.Enum(['TXT', 'MX'], { description: 'Type of the DNS record.' }),
  name: Type.String({ description: 'Where to add it, as a full name.' }),
  value: Type.String({ description: 'What to put there. An MX value is its preference and its host.' }),
  required: Type.Boolean({ description: 'Whether the domain is verified only with it.' }),
  status: Type.Enum(['ok', 'missing', 'mismatch'], {
    description: 'What the last check found. mismatch: another value.',
  }),
  found: textOrNull('What the name servers answered, at most 1,000 characters; null when nothing.'),
});

export const domainSchema = Type.Object({
  domain: Type.String({ description: 'In lower case, as ASCII.' }),
  status: domainStatusField,
  checked_at: instantOrNull('When its records were last looked up.'),
  created_at: instant('When it was first verified or added.'),
  records: Type.Array(recordSchema, { description: 'The DNS records to add, and how each one stands.' }),
});

export const domains: Resource<DomainRow, DomainsState, typeof domainSchema> = {
  ...domainTable,
  noun: 'domain',
  keyName: 'domain',
  keyField: domainField,
  output: domainSchema,
  find: (db, ctx, key) => domainTable.find(db, ctx, domainKey(key)),
  remove: (tx, ctx, key) => domainTable.remove(tx, ctx, domainKey(key)),
  show: showDomain,
};

export function showDomain(row: DomainRow) {
  const { domain, status, records, checked_at, created_at } = row;
  return {
    domain,
    status,
    checked_at: isoOrNull(checked_at),
    created_at: iso(created_at),
    records: JSON.parse(records) as DomainRecord[],
  };
}
