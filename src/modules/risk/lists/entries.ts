// Entries of an account's lists: an address, a network, a mailbox, a domain, a user or a device that is allowed or blocked, until a time
// or for good. What would match a call is written down as the keys of rows, so that a call reads a few rows, however long the lists are.

import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import type { CountedLimit } from '../../../core/accounts/tiers.ts';
import { resourceTable, rowSaver } from '../../../kit/resource.ts';
import { invalidField } from '../../../problems/problem.ts';
import { addressOf, domainOf, mailboxOf, parentsOf, type Sent } from '../signals/keys.ts';

export const entryKinds = ['ip', 'cidr', 'email', 'domain', 'user', 'device'] as const;
export type EntryKind = (typeof entryKinds)[number];
export const listNames = ['allow', 'block'] as const;
export type ListName = (typeof listNames)[number];

export interface EntryRow {
  readonly entry: string;
  readonly list: ListName;
  readonly kind: EntryKind;
  readonly value: string;
  readonly note: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
}

const shape = {
  ...{ table: 'risk.entry', key: 'entry', columns: 'entry, list, kind, value, note, created_at, expires_at' },
  filters: ['list', 'kind'],
};
export const entryTable = resourceTable<EntryRow>(shape);
export const saveEntry = rowSaver<EntryRow>(shape);

export const riskLimits = {
  risk_entries: {
    description: 'Entries of allow and block lists.',
    used: entryTable.count,
    ...{ standard: 1_000, pro: 10_000, enterprise: 100_000 },
  } satisfies CountedLimit,
};

const DOMAIN = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const CIDR = /^[0-9a-f:.]{2,45}\/\d{1,3}$/i;

export interface Entry {
  /** Key of its row. */
  readonly entry: string;
  /** As stored: in one writing. */
  readonly value: string;
  /** Which look-ups find it. */
  readonly shape: string;
}

/** Throws VALIDATION_FAILED for a value that is none of its kind. */
export function entryOf(kind: EntryKind, text: string): Entry {
  const { value, shape = kind } = written(kind, text.trim());
  return { entry: `${kind}:${value}`, value, shape };
}

function written(kind: EntryKind, text: string): { value: string; shape?: string } {
  if (kind === 'ip') return { value: addressOf(text, 'value').toString() };
  if (kind === 'email') return { value: mailboxOf(text, 'value') };
  if (kind === 'cidr') return network(text);
  if (kind !== 'domain') return { value: text };
  const domain = domainToASCII(text).toLowerCase();
  if (!DOMAIN.test(domain)) throw invalidField('value', 'format', 'value must be a domain, such as example.org.');
  return { value: domain };
}

function network(text: string): { value: string; shape: string } {
  if (!CIDR.test(text) || !ipaddr.isValidCIDR(text)) {
    throw invalidField('value', 'format', 'value must be a network, such as 192.0.2.0/24 or 2001:db8::/32.');
  }
  const [address, bits] = ipaddr.parseCIDR(text);
  const name = address.kind() === 'ipv4' ? 'cidr4' : 'cidr6';
  return { value: networkText(address, bits), shape: `${name}/${bits}` };
}

function networkText(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(`${address}/${bits}`)}/${bits}`;
}

/** The same, computed once for a call: a network of each length takes some microseconds. */
export function candidatesOf(sent: Sent): (shapes: readonly string[]) => readonly string[] {
  let known: { readonly shapes: readonly string[]; readonly found: readonly string[] } | null = null;
  return (shapes) => {
    if (known?.shapes !== shapes) known = { shapes, found: candidates(shapes, sent) };
    return known.found;
  };
}

/** Keys of the entries that would decide this call, of those shapes that the account's lists have. */
function candidates(shapes: readonly string[], sent: Sent): string[] {
  if (shapes.length === 0) return [];
  const has = (each: string) => shapes.includes(each);
  const found: string[] = [];
  if (sent.ip != null) {
    const address = addressOf(sent.ip);
    if (has('ip')) found.push(`ip:${address}`);
    const prefix = address.kind() === 'ipv4' ? 'cidr4/' : 'cidr6/';
    for (const each of shapes) {
      if (each.startsWith(prefix)) found.push(`cidr:${networkText(address, Number(each.slice(prefix.length)))}`);
    }
  }
  if (sent.email != null) {
    const mailbox = mailboxOf(sent.email);
    if (has('email')) found.push(`email:${mailbox}`);
    if (has('domain')) found.push(...parentsOf(domainOf(mailbox)).map((domain) => `domain:${domain}`));
  }
  if (has('user') && sent.user_id != null) found.push(`user:${sent.user_id}`);
  if (has('device') && sent.device_id != null) found.push(`device:${sent.device_id}`);
  return found;
}
