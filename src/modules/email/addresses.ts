// Mailboxes as callers write them: `name@example.org` or `Name <name@example.org>`, one each. No groups, routes, comments or lists.
import { domainToASCII } from 'node:url';
import { invalidField } from '../../problems/problem.ts';

export interface Mailbox {
  /** Empty: none. */
  readonly name: string;
  /** Its domain in lower case, as ASCII. */
  readonly address: string;
}

const NAMED = /^(?:"((?:[^"\\]|\\.){0,200})"|([^<>"]{0,200}?))\s*<([^<>\s]{3,320})>$/;
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;
const LOCAL_CHARACTERS_MAX = 64;
const DOMAIN_CHARACTERS_MAX = 253;

/** Null: it is none. */
export function readMailbox(text: string): Mailbox | null {
  if (CONTROL.test(text)) return null;
  const trimmed = text.trim();
  const [, quoted, plain, inside] = NAMED.exec(trimmed) ?? [];
  const address = readAddress(inside ?? trimmed);
  if (address === null) return null;
  const name = quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\(.)/g, '$1');
  return { name: name.trim(), address };
}

/** With its domain in lower case, as ASCII; null: it is none. */
export function readAddress(text: string): string | null {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(0, at));
  const domain = readDomain(text.slice(at + 1));
  if (local.length > LOCAL_CHARACTERS_MAX || !LOCAL.test(local) || domain === null) return null;
  return `${local}@${domain}`;
}

/** In lower case, as ASCII; null: it is none. */
export function readDomain(text: string): string | null {
  // Which would leave out line ends and tabs.
  if (CONTROL.test(text)) return null;
  const domain = domainToASCII(text).toLowerCase();
  return domain.length <= DOMAIN_CHARACTERS_MAX && DOMAIN.test(domain) && !/^[\d.]+$/.test(domain) ? domain : null;
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Throws VALIDATION_FAILED that names the field. */
export function requireMailbox(text: string, param: string): Mailbox {
  const mailbox = readMailbox(text);
  if (mailbox !== null) return mailbox;
  throw invalidField(
    param,
    'address',
    `${param} must be one address, such as ada@example.org or "Ada Lovelace <ada@example.org>".`,
  );
}

/** As a header shows it, for people and records. */
export function mailboxText({ name, address }: Mailbox): string {
  if (name === '') return address;
  return /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~.-]+$/u.test(name) && !name.includes(',')
    ? `${name} <${address}>`
    : `"${name.replaceAll(/["\\]/g, '\\$&')}" <${address}>`;
}
