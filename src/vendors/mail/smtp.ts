// Mail by SMTP (RFC 5321), through nodemailer.
import { createTransport } from 'nodemailer';
import type { Mail, MailServer } from './port.ts';

const CONNECT_WITHIN_MS = 10_000;
const SILENT_FOR_MS = 20_000;

export interface SmtpSettings {
  /** smtp://user:password@host:port, or smtps:// */
  readonly url: string;
  readonly from: string;
}

export function smtpServer({ url, from }: SmtpSettings): MailServer {
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: CONNECT_WITHIN_MS,
    socketTimeout: SILENT_FOR_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    url,
    async send({ id, to, subject, text, html }: Mail) {
      try {
        await transport.sendMail({
          from,
          subject,
          text,
          html,
          // As an object: nothing in it is read as a list of addresses.
          to: { name: '', address: to },
          messageId: `<${id}@${domainOf(from)}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return 'sent';
      } catch (error) {
        if (isRefusal(error)) return 'refused';
        throw error;
      }
    },
  };
}

function domainOf(from: string): string {
  return /@([^\s>]+)/.exec(from)?.[1] ?? 'localhost';
}

// 5yz is permanent (RFC 5321 §4.2.1). A refused login is the operator's to mend, and no word about the mail.
function isRefusal(error: unknown): boolean {
  const { responseCode = 0, code } = error as { responseCode?: number; code?: string };
  return responseCode >= 500 && code !== 'EAUTH';
}
