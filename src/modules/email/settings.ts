// Operator's settings for e-mail.
import { ConfigError, type Variables } from '../../config/variables.ts';

const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function emailSettings(variables: Variables) {
  const certFile = variables.text('SMTP_TLS_CERT') ?? null;
  const keyFile = variables.text('SMTP_TLS_KEY') ?? null;
  if ((certFile === null) !== (keyFile === null)) {
    throw new ConfigError('SMTP_TLS_CERT and SMTP_TLS_KEY go together: the files of a certificate and its key');
  }
  const port = variables.integer('SMTP_PORT', 0, { min: 1, max: 65_535 });
  return {
    /** Where bounces go, and mail for nobody else; null: relays' replies are all that is known of a mail. */
    bounceDomain: domainsOf(variables, 'EMAIL_BOUNCE_DOMAIN', 1)[0] ?? null,
    /** From these every account may send. */
    trustedDomains: domainsOf(variables, 'EMAIL_TRUSTED_DOMAINS', 100),
    /** Mails that this process hands over in a second; 0: as many as the relay takes. */
    perSecond: variables.integer('EMAIL_PER_SECOND', 0, { min: 0, max: 10_000 }),
    /** Where programs hand in mail, and other servers theirs; null: nowhere. */
    smtpPort: port === 0 ? null : port,
    /** Paths; null: no TLS. */
    tls: certFile === null || keyFile === null ? null : { certFile, keyFile },
  };
}

export type EmailSettings = ReturnType<typeof emailSettings> & {
  /** `address:port` of name servers; null: those of the machine. */
  readonly dnsServers: readonly string[] | null;
};

function domainsOf(variables: Variables, name: string, countMax: number): readonly string[] {
  const domains = listOf(variables, name).map((domain) => domain.toLowerCase());
  const wrong = domains.find((domain) => !DOMAIN.test(domain));
  if (wrong !== undefined || domains.length > countMax) {
    const what = countMax === 1 ? 'a domain' : `at most ${countMax} domains, separated by commas`;
    throw new ConfigError(`${name} must be ${what}, such as mail.example.org`);
  }
  return domains;
}

function listOf(variables: Variables, name: string): readonly string[] {
  return (variables.text(name) ?? '').split(/[\s,]+/).filter((part) => part !== '');
}
