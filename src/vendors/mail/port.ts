// Port of a mail server.
export interface Mail {
  /** Ours: a mail that is sent twice, because an answer was lost, says the same one. */
  readonly id: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailServer {
  /** SMTP_URL, with its password: the relay of all mail while the operator names no other. */
  readonly url: string;
  /** `refused`: the server will never take it. Throws when it may do later. */
  send(mail: Mail): Promise<'sent' | 'refused'>;
}
