// Receives one mail for several recipients of this service, by HTTP, SMTP or local delivery: parsed once, then stored in each inbox by itself.
// Everything that it answers is committed.
import { slicedSha256 } from '../../../lib/sliced-digest.ts';
import { type Kept, keepMail } from '../inboxes/keep.ts';
import { HOPS_MAX } from '../inboxes/limits.ts';
import type { MailAuth, MailOrigin } from './auth.ts';
import type { MailBytes } from './mail-bytes.ts';
import type { MailRead } from './mail-reader.ts';
import type { Receiving } from './receiving.ts';
import type { Recipient } from './recipients.ts';

export interface Arrival {
  readonly mail: MailBytes;
  readonly recipients: readonly Recipient[];
  /** Known already, as of mail within this service; else it is checked by `origin`. */
  readonly by: { readonly auth: MailAuth } | { readonly origin: MailOrigin };
  /** Header lines that say how it came in, each with its line end: they are put before the mail. */
  readonly trace: string;
  /** Whose share of the threads that read mail it takes. */
  readonly sharer: string;
}

/** `ignored`: a mail to the bounce address that reports nothing, such as an out-of-office note. `looping`: it has passed too many servers. */
export type Delivered =
  | Kept
  | { readonly kind: 'bounce' | 'complaint'; readonly emailId: string }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'looping' };

/** In the order of the recipients. Throws CONCURRENCY_LIMITED, OVERLOADED, SERVICE_UNAVAILABLE: then a repeat keeps nothing twice. */
export async function receive(receiving: Receiving, arrival: Arrival): Promise<Delivered[]> {
  const delivered: Delivered[] = [];
  const { received } = arrival.mail;
  const source = arrival.mail.withTrace(arrival.trace);
  let read: (MailRead & { readonly digest: Buffer }) | null = null;
  for (const recipient of arrival.recipients) {
    if (recipient.kind === 'bounce') {
      delivered.push(await takeReport(receiving, arrival, recipient.address));
      continue;
    }
    read ??= {
      ...(await receiving.reader.mail(arrival.sharer, received, arrival.by)),
      digest: await slicedSha256(received),
    };
    if (read.mail.hops > HOPS_MAX) {
      delivered.push({ kind: 'looping' });
      continue;
    }
    delivered.push(await keepMail(receiving.core, { inbox: recipient.inbox, ...read, source }));
  }
  return delivered;
}

async function takeReport({ reader, bounces }: Receiving, arrival: Arrival, address: string): Promise<Delivered> {
  const report = await reader.report(arrival.sharer, arrival.mail.received);
  const reported = report === null ? null : await bounces.apply(address, report);
  if (report === null || reported === null) return { kind: 'ignored' };
  return { kind: report.kind === 'complaint' ? 'complaint' : 'bounce', emailId: reported.emailId };
}

/** Header lines for what was handed over by `with`, such as ESMTPS (RFC 3848). */
export function traceOf(
  { ip, helo, envelopeFrom }: MailOrigin,
  {
    by,
    protocol,
    id,
    atMs,
  }: { readonly by: string; readonly protocol: string; readonly id: string; readonly atMs: number },
): string {
  const plain = (text: string) => text.replaceAll(/[^\w.:@+=~!#$%&'*/?^`{|}-]/g, '_').slice(0, 320);
  const from = ip === null ? 'unknown' : `${plain(helo ?? ip)} ([${plain(ip)}])`;
  const date = new Date(atMs).toUTCString().replace('GMT', '+0000');
  return `Return-Path: <${plain(envelopeFrom)}>\r\nReceived: from ${from}\r\n by ${plain(by)} with ${protocol} id ${id}; ${date}\r\n`;
}
