// An address as somebody typed it -> as it is written to and known by.
import { domainToASCII } from 'node:url';

const CHARACTERS_MAX = 254;
const NAME = /^[^\s@<>()[\]\\,;:"\p{C}]{1,64}$/u;
/** The conversion to ASCII would drop line breaks and tabs. */
const UNWANTED = /[\s\p{C}]/u;

/** In lower case, its domain in ASCII (IDNA); null for what is no address. */
export function mailAddress(text: string): string | null {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  const name = trimmed.slice(0, Math.max(at, 0)).normalize('NFC').toLowerCase();
  const domain = domainToASCII(trimmed.slice(at + 1)).toLowerCase();
  if (UNWANTED.test(trimmed) || !NAME.test(name) || domain === '' || `${name}@${domain}`.length > CHARACTERS_MAX)
    return null;
  return `${name}@${domain}`;
}
