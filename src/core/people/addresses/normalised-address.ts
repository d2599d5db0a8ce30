// When two addresses are the same mailbox: what one person writes in many ways counts once. Never where mail is sent to.
import { domainToASCII } from 'node:url';

/** In lower case, its domain in ASCII (IDNA), without +tag, at Gmail without dots; null for what is no address. */
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
