// Names of zones and records (RFC 1035, RFC 5890). Their internal form is lower-case ASCII without the last dot.
import { domainToASCII } from 'node:url';
import { invalidField } from '../../../problems/problem.ts';

export const NAME_CHARACTERS_MAX = 253;
/** As it is typed: with letters of all scripts, and a last dot. */
export const TYPED_CHARACTERS_MAX = 1_000;
/** No exception of the list is called so. */
const ANY_LABEL = 'any-name-below';
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** The name; null for what is none. A wildcard is one: `*` as the first label. */
export function readName(text: string): string | null {
  const plain = text.endsWith('.') ? text.slice(0, -1) : text;
  if (plain.length > TYPED_CHARACTERS_MAX) return null;
  const ascii = /^[!-~]*$/.test(plain) ? plain.toLowerCase() : domainToASCII(plain);
  if (ascii === '' || ascii.length > NAME_CHARACTERS_MAX) return null;
  return ascii.split('.').every((label, at) => LABEL.test(label) || (at === 0 && label === '*')) ? ascii : null;
}

/** A zone as a call names it; what is no name comes back in lower case, and is found nowhere. */
export function zoneKey(text: string): string {
  return readName(text) ?? text.toLowerCase();
}

/** The name of a new zone. Throws VALIDATION_FAILED. */
export async function requireZoneName(text: string): Promise<string> {
  const zone = readName(text);
  if (zone === null || !zone.includes('.') || zone.startsWith('*.')) {
    throw invalidField('zone', 'pattern', 'zone must be a domain name with a dot, such as example.org.');
  }
  if (await isPublicSuffix(zone)) {
    throw invalidField(
      'zone',
      'public_suffix',
      `${zone} is a public suffix: anybody may register names below it. Use a domain of yours.`,
    );
  }
  return zone;
}

/** A rule of the list may say that every name below one is a suffix (`*.kawasaki.jp`): then that one is above the domains of many, as a suffix is. */
async function isPublicSuffix(zone: string): Promise<boolean> {
  const { getPublicSuffix } = await import('tldts');
  const isSuffix = (name: string) => getPublicSuffix(name, { allowPrivateDomains: true }) === name;
  return isSuffix(zone) || isSuffix(`${ANY_LABEL}.${zone}`);
}

/**
 * The domain that somebody registered at a registry: zones of different ones never lie within each other. Suffixes of companies (`github.io`) do not
 * count: they lie in a domain of the company's, which may be a zone itself.
 */
export async function registeredDomain(zone: string): Promise<string> {
  const { getDomain } = await import('tldts');
  return getDomain(zone) ?? zone;
}

/** What zones below a company's suffix were kept under before. */
export async function companyDomain(zone: string): Promise<string> {
  const { getDomain } = await import('tldts');
  return getDomain(zone, { allowPrivateDomains: true }) ?? zone;
}

export function liesIn(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

/**
 * The whole name of a record: `@` or nothing is the zone itself; a name that ends with the zone, or with a dot, is whole; any other is
 * relative to `origin`. Null for what is no name, or lies elsewhere.
 */
export function recordName(text: string, zone: string, origin = zone): string | null {
  if (text === '@' || text === '') return origin;
  const name = readName(text);
  if (name === null) return null;
  if (text.endsWith('.') || liesIn(name, zone)) return liesIn(name, zone) ? name : null;
  return readName(`${name}.${origin}`);
}

/** The same of a call. Throws VALIDATION_FAILED. */
export function requireRecordName(text: string, zone: string, param = 'name'): string {
  const name = recordName(text, zone);
  if (name !== null) return name;
  throw invalidField(
    param,
    'pattern',
    `${param} must be a name in ${zone}: relative, such as www, or whole, such as www.${zone}.`,
  );
}
