// The mail server of the settings. Its package is loaded only where there is one.
import type { MailServer } from '../vendors/mail/port.ts';
import type { SmtpSettings } from '../vendors/mail/smtp.ts';

export async function openMailServer(settings: SmtpSettings | null): Promise<MailServer | null> {
  if (settings === null) return null;
  const { smtpServer } = await import('../vendors/mail/smtp.ts');
  return smtpServer(settings);
}
