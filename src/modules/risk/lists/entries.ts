// Allow and block list entries: an address, network, mailbox, domain, user or device, until a time or for good. A call derives the row keys of
// all entries that could match it, so it reads a few rows however long the lists are.
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import Type, { type Static } from 'typebox';
import type { CountedLimit } from '../../../core/callers/tiers.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { instant, instantOrNull, textOrNull } from '../../../kit/fields.ts';
import { resourceTable, rowSaver } from '../../../kit/resource.ts';
import { networkText } from '../../../lib/address.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';
import { invalidField } from '../../../problems/problem.ts';
import { type ListName, listNames } from '../limits.ts';
import { addressOf, domainsOf, mailboxOf, type Sent } from '../signals/keys.ts';

export const kindField = Type.Enum(['ip', 'cidr', 'email', 'domain', 'user', 'device'], {
  description: 'What value is.',
});
export const listField = Type.Enum([...listNames], {
  description: 'allow wins where both lists have an entry for a call.',
});
export const entrySchema = Type.Object({
  list: listField,
  kind: kindField,
  value: Type.String({ description: 'In one writing: in lower case, networks by their first address.' }),
  note: textOrNull('As sent.'),
  created_at: instant('When it was added or last changed.'),
  expires_at: instantOrNull('Null: for good.'),
});
type Shown = Static<typeof entrySchema>;

/** `entry`: `<kind>:<value>`. */
export type EntryRow = Omit<Shown, 'created_at' | 'expires_at'> & {
  readonly entry: string;
  readonly created_at: number;
  readonly expires_at: number | null;
};

export function entryRecord({ entry: _, created_at, expires_at, ...shown }: EntryRow): Shown {
  return { ...shown, created_at: iso(created_at), expires_at: isoOrNull(expires_at) };
}

const shape = {
  table: 'risk.entry',
  key: 'entry',
  columns: 'entry, list, kind, value, note, created_at, expires_at',
  filters: ['list', 'kind'],
};
export const entryTable = resourceTable<EntryRow>(shape);
export const saveEntry = rowSaver<EntryRow>(shape);

export const riskLimits = {
  risk_entries: {
    description: 'Entries of allow and block lists.',
    used: entryTable.count,
    standard: 1_000,
    pro: 10_000,
    enterprise: 100_000,
  } satisfies CountedLimit,
};

type FoundEntry = Pick<EntryRow, 'entry' | 'list'> & { readonly account_id: string };
// Each row by its whole key: OFFSET 0 keeps the planner from joining, which would read all entries of an account.
const readEntries = statement(
  'risk_read_entries',
  `SELECT r.*
     FROM unnest($2::text[], $3::text[]) u(account_id, entry),
          LATERAL (SELECT e.account_id, e.entry, e.list FROM risk.entry e
                    WHERE e.account_id = ANY($1::text[]) AND e.account_id = u.account_id AND e.entry = u.entry
                      AND (e.expires_at IS NULL OR e.expires_at > core.clock_now()) OFFSET 0) r`,
);

const DOMAIN = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const CIDR = /^[0-9a-f:.]{2,45}\/\d{1,3}$/i;

/** The key of its row, the value in one writing, and the shape that look-ups find it by. Throws VALIDATION_FAILED for a value that is none of its kind. */
export function entryOf(kind: EntryRow['kind'], text: string) {
  const value = normalValue(kind, text.trim());
  const family = value.includes(':') ? 'cidr6' : 'cidr4';
  const shape = kind === 'cidr' ? `${family}/${value.split('/')[1]}` : kind;
  return { entry: `${kind}:${value}`, value, shape };
}

function normalValue(kind: EntryRow['kind'], text: string): string {
  if (kind === 'ip') return addressOf(text, 'value').toString();
  if (kind === 'email') return mailboxOf(text, 'value');
  if (kind === 'cidr') {
    if (CIDR.test(text) && ipaddr.isValidCIDR(text)) return networkText(...ipaddr.parseCIDR(text));
    throw invalidField('value', 'format', 'value must be a network, such as 192.0.2.0/24 or 2001:db8::/32.');
  }
  if (kind !== 'domain') return text;
  const domain = domainToASCII(text).toLowerCase();
  if (DOMAIN.test(domain)) return domain;
  throw invalidField('value', 'format', 'value must be a domain, such as example.org.');
}

/** Keys of the entries that would decide a call, of those shapes that the account's lists have. */
export function candidatesOf({ ip, email, user, device }: Sent, shapes: readonly string[]): string[] {
  return shapes.flatMap((shape) => {
    if (shape === 'ip') return ip === null ? [] : [`ip:${ip}`];
    if (shape === 'email') return email === null ? [] : [`email:${email}`];
    if (shape === 'domain') return email === null ? [] : domainsOf(email).map((domain) => `domain:${domain}`);
    if (shape === 'user') return user === null ? [] : [`user:${user}`];
    if (shape === 'device') return device === null ? [] : [`device:${device}`];
    const [family, bits] = shape.split('/');
    const isOfFamily = ip?.kind() === (family === 'cidr4' ? 'ipv4' : 'ipv6');
    return isOfFamily ? [`cidr:${networkText(ip, Number(bits))}`] : [];
  });
}

/** Which list decides each call, by its candidates: allow wins over block. Null: none does. Under the locks of a commit of `accounts`. */
export async function findLists(
  tx: Queryable,
  accounts: Buffer,
  calls: readonly { readonly accountId: string; readonly entries: readonly string[] }[],
): Promise<(ListName | null)[]> {
  const wanted = calls.flatMap(({ accountId, entries }) => entries.map((entry) => ({ accountId, entry })));
  if (wanted.length === 0) return calls.map(() => null);
  const owners = textArray(wanted.map(({ accountId }) => accountId));
  const entries = textArray(wanted.map(({ entry }) => entry));
  const { rows } = await tx.query<FoundEntry>(readEntries, [accounts, owners, entries]);
  const lists = new Map(rows.map(({ account_id: id, entry, list }) => [`${id} ${entry}`, list]));
  return calls.map((call) => {
    const found = call.entries.map((entry) => lists.get(`${call.accountId} ${entry}`));
    return found.includes('allow') ? 'allow' : found.includes('block') ? 'block' : null;
  });
}
