// The keys of a call: network address, mailbox, user and device. They are stored as keyed hashes alone, with a key of each account, so
// that neither the database nor a list of addresses tells whose they are.
import { hash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { readAddress } from '../../../lib/address.ts';
import { mailAddress, normalisedAddress } from '../../../people/addresses.ts';
import { invalidField } from '../../../problems/problem.ts';

/** In the order of their bytes. `field` names one in calls, `many` in what is linked. */
export const KINDS = [
  { kind: 'ip', field: 'ip', many: 'ips' },
  { kind: 'email', field: 'email', many: 'emails' },
  { kind: 'user', field: 'user_id', many: 'users' },
  { kind: 'device', field: 'device_id', many: 'devices' },
] as const;
export type Kind = (typeof KINDS)[number]['kind'];
export type Sent = { readonly [field in (typeof KINDS)[number]['field']]?: string | null };

/** 120 bits. */
const HASH_BYTES = 15;
export const KEY_BYTES = 1 + HASH_BYTES;
/** Deriving the key of an account takes ten times as long as using it. */
const ACCOUNTS_KEPT = 4_096;

/** How often an IPv6 address counts: one customer has a /64. */
const IPV6_BITS = 64;

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** IPv4 in IPv6 is IPv4. Throws INVALID_REQUEST. */
export function addressOf(ip: string, param = 'ip'): Address {
  const address = readAddress(ip.trim());
  if (address === null) throw invalidField(param, 'format', 'It must be an IPv4 or IPv6 address.');
  return ipaddr.process(address.toString());
}

/** As it is written to, in lower case. Throws INVALID_REQUEST. */
export function mailboxOf(email: string, param = 'email'): string {
  const address = mailAddress(email);
  if (address === null) throw invalidField(param, 'format', 'It must be an e-mail address.');
  return address;
}

export const domainOf = (mailbox: string): string => mailbox.slice(mailbox.lastIndexOf('@') + 1);

/** The domain, and those above it. */
export function parentsOf(domain: string): string[] {
  const labels = domain.split('.');
  return labels.map((_, i) => labels.slice(i).join('.'));
}

/** What several writings of a key have in common. Throws INVALID_REQUEST. */
function oneWriting(kind: Kind, text: string): string {
  if (kind === 'email') return normalisedAddress(mailboxOf(text)) as string;
  if (kind !== 'ip') return text;
  const address = addressOf(text);
  return address.kind() === 'ipv4'
    ? address.toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_BITS}`).toString();
}

export class KeyHashes {
  readonly #secrets: Secrets;
  readonly #keys = new LRUCache<string, string>({ max: ACCOUNTS_KEPT });

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** By the place of their kind; null: not sent. Throws INVALID_REQUEST. */
  ofCall(accountId: string, sent: Sent): (Buffer | null)[] {
    return KINDS.map(({ kind, field }) => {
      const text = sent[field] ?? null;
      return text === null ? null : this.of(accountId, kind, text);
    });
  }

  of(accountId: string, kind: Kind, text: string): Buffer {
    // Cut, a hash behind a secret cannot be carried on. HMAC took 14 µs a key, this takes 1.5.
    const digest = hash('sha256', `${this.#keyOf(accountId)}${kind}\n${oneWriting(kind, text)}`, 'buffer');
    const key = digest.subarray(0, KEY_BYTES);
    key[0] = KINDS.findIndex((each) => each.kind === kind) + 1;
    return key;
  }

  #keyOf(accountId: string): string {
    const known = this.#keys.get(accountId);
    if (known !== undefined) return known;
    const key = this.#secrets.derive('risk-key-hash', 32, accountId).toString('base64url');
    this.#keys.set(accountId, key);
    return key;
  }
}

/** Place of its kind in KINDS. */
export const placeOf = (key: Buffer): number => (key[0] as number) - 1;

/** As answers show it: `user_…`. */
export function keyText(key: Buffer): string {
  return `${KINDS[placeOf(key)]?.kind}_${key.toString('base64url', 1)}`;
}

export const KEY_PATTERN = `^(${KINDS.map(({ kind }) => kind).join('|')})_[A-Za-z0-9_-]{20}$`;

/** Of a text that matches KEY_PATTERN. */
export function keyFrom(text: string): Buffer {
  const [kind = '', hash] = [text.slice(0, text.indexOf('_')), text.slice(text.indexOf('_') + 1)];
  const place = KINDS.findIndex((each) => each.kind === kind) + 1;
  return Buffer.concat([Buffer.from([place]), Buffer.from(hash, 'base64url')]);
}
