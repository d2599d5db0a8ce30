// Keys of a call: network address, mailbox, user and device. Only keyed hashes are stored, and they differ by account: neither the database nor
// a list of addresses reveals whose they are.
import { hash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { type Address, networkText, readAddress } from '../../../lib/address.ts';
import { patternWithWords } from '../../../lib/pattern-words.ts';
import { mailAddress, normalisedAddress } from '../../../people/addresses.ts';
import { invalidField } from '../../../problems/problem.ts';

/** In the order of their bytes, from 1. `field` names one in calls, `many` in what is linked. */
export const KINDS = [
  { kind: 'ip', field: 'ip', many: 'ips' },
  { kind: 'email', field: 'email', many: 'emails' },
  { kind: 'user', field: 'user_id', many: 'users' },
  { kind: 'device', field: 'device_id', many: 'devices' },
] as const;
export type Kind = (typeof KINDS)[number]['kind'];

/** A byte of the kind, then 120 bits of a hash. */
export const KEY_BYTES = 16;
/** How an IPv6 address counts: one customer has a /64. */
const IPV6_BITS = 64;

/** What a call names; null: not sent. The mailbox is as it is written to, in lower case. */
export type Sent = Readonly<ReturnType<typeof sentOf>>;

/** Throws VALIDATION_FAILED. */
export function sentOf(input: { readonly [field in (typeof KINDS)[number]['field']]?: string | null }) {
  return {
    ip: input.ip ? addressOf(input.ip) : null,
    email: input.email ? mailboxOf(input.email) : null,
    user: input.user_id || null,
    device: input.device_id || null,
  };
}

/** IPv4 in IPv6 is IPv4. Throws VALIDATION_FAILED. */
export function addressOf(ip: string, param = 'ip'): Address {
  const address = readAddress(ip.trim());
  if (address === null) throw invalidField(param, 'format', 'It must be an IPv4 or IPv6 address.');
  return ipaddr.process(address.toString());
}

/** Throws VALIDATION_FAILED. */
export function mailboxOf(email: string, param = 'email'): string {
  const address = mailAddress(email);
  if (address === null) throw invalidField(param, 'format', 'It must be an e-mail address.');
  return address;
}

/** The domain of a mailbox, and those above it. */
export function domainsOf(mailbox: string): string[] {
  const labels = mailbox.slice(mailbox.lastIndexOf('@') + 1).split('.');
  return labels.map((_, i) => labels.slice(i).join('.'));
}

export class KeyHashes {
  readonly #secret: string;

  constructor(secrets: Secrets) {
    this.#secret = secrets.derive('risk-key-hash', 32).toString('base64url');
  }

  /** Keys of what was sent, in the order of their kinds. */
  of(accountId: string, { ip, email, user, device }: Sent): Buffer[] {
    // What several writings of one have in common.
    const written: Readonly<Record<Kind, string | null>> = {
      ip: ip?.kind() === 'ipv6' ? networkText(ip, IPV6_BITS) : (ip?.toString() ?? null),
      email: email === null ? null : normalisedAddress(email),
      user,
      device,
    };
    const secret = this.#secret + accountId;
    return KINDS.flatMap(({ kind }, i) => {
      if (written[kind] === null) return [];
      // Cut, a hash behind a secret cannot be carried on. HMAC took 14 µs a key, this takes 0.9; as a Buffer, which has memory of its own, 1.4.
      const digest = hash('sha256', `${secret}\n${kind}\n${written[kind]}`, 'hex');
      const key = Buffer.from(digest.slice(0, 2 * KEY_BYTES), 'hex');
      key[0] = i + 1;
      return [key];
    });
  }
}

export function kindOf(key: Buffer): Kind {
  return (KINDS[(key[0] as number) - 1] as (typeof KINDS)[number]).kind;
}

/** As answers show it: `user_…`. */
export function keyText(key: Buffer): string {
  return `${kindOf(key)}_${key.toString('base64url', 1)}`;
}

export const KEY_PATTERN = patternWithWords(
  `^(${KINDS.map(({ kind }) => kind).join('|')})_[A-Za-z0-9_-]{20}$`,
  'must be a key as scores and decisions have it, such as ip_ and 20 characters',
);

/** Of a text that matches KEY_PATTERN. */
export function keyFrom(text: string): Buffer {
  const end = text.indexOf('_');
  const place = KINDS.findIndex(({ kind }) => kind === text.slice(0, end));
  return Buffer.concat([Buffer.from([place + 1]), Buffer.from(text.slice(end + 1), 'base64url')]);
}
