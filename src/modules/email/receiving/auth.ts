// Input and result of sender authentication. The check itself is a file of its own (authenticate.ts), since it loads a large library.

/** `none`: nothing was published or signed, or the check does not apply; `temperror`: name servers did not answer in time. */
export interface MailAuth {
  readonly spf: string;
  readonly dkim: string;
  readonly dmarc: string;
}

/** How the mail came in. */
export interface MailOrigin {
  /** Of the client; null: not known, so SPF cannot be checked. */
  readonly ip: string | null;
  readonly helo: string | null;
  /** Empty: a bounce. */
  readonly envelopeFrom: string;
}

export interface AuthSettings {
  /** Null: the name servers of the machine. */
  readonly dnsServers: readonly string[] | null;
}

export const authUnknown: MailAuth = { spf: 'temperror', dkim: 'temperror', dmarc: 'temperror' };
