// Per-process state for receiving mail.
import type { Services } from '../../../kit/services.ts';
import { AttachmentLinks } from '../inboxes/attachment-links.ts';
import { InboxWaiters } from '../inboxes/waiting.ts';
import type { EmailSettings } from '../settings.ts';
import { MailReader } from './mail-reader.ts';
import type { Report } from './report.ts';

/** Reports of mail that this service sent, by the addresses that they come back to. */
export interface Bounces {
  /** Whether this service has made the address. */
  isOurs(address: string): boolean;
  /** Null: the mail that the address names is gone. */
  apply(address: string, report: Report): Promise<{ readonly emailId: string } | null>;
}

export type ReceivingSettings = Pick<EmailSettings, 'bounceDomain' | 'dnsServers' | 'smtpPort' | 'tls'>;

export interface Receiving {
  readonly core: Services;
  readonly settings: ReceivingSettings;
  readonly bounces: Bounces;
  readonly reader: MailReader;
  readonly waiters: InboxWaiters;
  readonly links: AttachmentLinks;
}

/** The part of the module's state that receiving needs. */
export interface ReceivingState {
  readonly receiving: Receiving;
}

export function startReceiving(core: Services, settings: ReceivingSettings, bounces: Bounces): Receiving {
  const reader = new MailReader(settings);
  return { core, settings, bounces, reader, waiters: new InboxWaiters(core.db), links: new AttachmentLinks(core) };
}
