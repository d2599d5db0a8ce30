// Name of a domain that mail can be sent from: registered by somebody, no address, no public suffix.
import { invalidField } from '../../../problems/problem.ts';
import { readDomain } from '../addresses.ts';

/** In lower case, as ASCII (RFC 5891); what is no domain comes back in lower case. */
export function domainKey(text: string): string {
  return readDomain(withoutRoot(text)) ?? text.toLowerCase();
}

/** The same of one that an account may prove. Throws VALIDATION_FAILED. */
export async function requireDomain(text: string): Promise<string> {
  const domain = /[/:@?#%\\[\]\s]/.test(text) ? null : readDomain(withoutRoot(text));
  if (domain === null || !domain.includes('.')) {
    throw invalidField(
      'domain',
      'pattern',
      'The domain must be a name with a dot, such as mail.example.org, not an address or a URL.',
    );
  }
  const { getPublicSuffix } = await import('tldts');
  if (getPublicSuffix(domain, { allowPrivateDomains: true }) === domain) {
    throw invalidField(
      'domain',
      'public_suffix',
      `${domain} is a public suffix: anybody may register names below it. Use one of yours.`,
    );
  }
  return domain;
}

/** The domain that somebody registered, `example.org` of `mail.example.org`; DMARC is looked for there too. */
export async function registeredDomain(domain: string): Promise<string> {
  const { getDomain } = await import('tldts');
  return getDomain(domain) ?? domain;
}

function withoutRoot(text: string): string {
  return text.endsWith('.') ? text.slice(0, -1) : text;
}
