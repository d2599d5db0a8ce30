// Normalisation of mail and network addresses: the form that is stored, and the form under which several count as one person's.
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { networkText } from '../lib/address.ts';

const CHARACTERS_MAX = 254;
const NAME = /^[^\s@<>()[\]\\,;:"\p{C}]{1,64}$/u;
/** The conversion to ASCII would drop line breaks and tabs. */
const UNWANTED = /[\s\p{C}]/u;

/** An address as somebody typed it, as it is written to and known by: in lower case, its domain in ASCII (IDNA); null for what is no address. */
export function mailAddress(text: string): string | null {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  const name = trimmed.slice(0, Math.max(at, 0)).normalize('NFC').toLowerCase();
  const domain = domainToASCII(trimmed.slice(at + 1)).toLowerCase();
  if (UNWANTED.test(trimmed) || !NAME.test(name) || domain === '' || `${name}@${domain}`.length > CHARACTERS_MAX)
    return null;
  return `${name}@${domain}`;
}

/**
 * The mailbox: in lower case, its domain in ASCII (IDNA), without +tag, at Gmail without dots; null for what is no address. What one
 * person writes in many ways counts once by it; never where mail is sent to.
 */
export function normalisedAddress(address: string): string | null {
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1))
    .toLowerCase()
    .replace(/\.$/, '');
  const written = address.slice(0, Math.max(at, 0)).normalize('NFKC').toLowerCase();
  // A tag comes after a name: what begins with + is one itself.
  const name = written.replace(/(?<=.)\+.*$/su, '');
  if (name === '' || domain === '') return null;
  const isGmail = domain === 'gmail.com' || domain === 'googlemail.com';
  return isGmail ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`;
}

/**
 * The network that an address counts for where many addresses may be one person's: /24 of IPv4, /48 of IPv6. Null on this machine:
 * nobody is limited there.
 */
export function wideNetworkOf(address: string): string | null {
  if (!ipaddr.isValid(address)) return address;
  const known = ipaddr.process(address);
  if (known.range() === 'loopback') return null;
  return networkText(known, known.kind() === 'ipv4' ? 24 : 48);
}
