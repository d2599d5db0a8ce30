// Settings of sign-up and of mail to people.
import { isLoopback } from '../lib/loopback.ts';
import { ConfigError, type Variables } from './variables.ts';

const SIGNUP = ['open', 'closed'] as const;
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const FROM = /^(?:[^<>\r\n]{0,100}<)?[^\s<>@,;]{1,64}@[^\s<>@,;]{1,255}>?$/;

export interface PeopleSettings {
  readonly signUp: {
    /** Whether somebody without an account is given one at the first sign-in. */
    readonly isOpen: boolean;
    /** Domains of addresses that may sign up, in lower case; empty: all. */
    readonly domains: readonly string[];
  };
  /** Null: mail stands in the outbox. */
  readonly smtp: { readonly url: string; readonly from: string } | null;
}

/** Open to everybody only on this machine, unless told otherwise. Throws ConfigError, which never repeats SMTP_URL: it holds a password. */
export function peopleSettings(variables: Variables, baseUrl: string): PeopleSettings {
  const { hostname } = new URL(baseUrl);
  const usual = isLoopback(hostname) ? 'open' : 'closed';
  const url = smtpUrl(variables);
  const from = variables.text('MAIL_FROM') ?? `Quartermaster <no-reply@${mailDomain(hostname)}>`;
  if (!FROM.test(from)) throw new ConfigError(`MAIL_FROM must be an address such as "Name <name@example.org>"`);
  return Object.freeze({
    signUp: { isOpen: variables.oneOf('SIGNUP', SIGNUP, usual) === 'open', domains: domainsOf(variables) },
    smtp: url === null ? null : { url, from },
  });
}

function smtpUrl(variables: Variables): string | null {
  const value = variables.secret('SMTP_URL', 1);
  if (value === undefined) return null;
  const url = URL.parse(value);
  if ((url?.protocol === 'smtp:' || url?.protocol === 'smtps:') && url.hostname !== '') return value;
  throw new ConfigError('SMTP_URL must be like smtp://user:password@mail.example.org:587 or smtps://…');
}

function domainsOf(variables: Variables): readonly string[] {
  const domains = (variables.text('SIGNUP_DOMAINS') ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((domain) => domain !== '');
  const wrong = domains.find((domain) => !DOMAIN.test(domain));
  if (wrong === undefined) return domains;
  throw new ConfigError(
    `SIGNUP_DOMAINS must be a comma-separated list of domains, not ${JSON.stringify(wrong.slice(0, 80))}`,
  );
}

function mailDomain(hostname: string): string {
  return isLoopback(hostname) ? 'localhost' : hostname;
}
