// Converts the input of a call to a mail that can be sent. Throws VALIDATION_FAILED that names the field.
import { invalidField } from '../../../problems/problem.ts';
import { type Mailbox, readAddress, requireMailbox } from '../addresses.ts';
import { MAIL_BYTES_MAX, RECIPIENTS_MAX, TEXT_BYTES_MAX } from '../limits.ts';
import type { Attachment, MailContent } from '../messages/content.ts';
import type { RecipientKind } from '../messages/row.ts';

export interface SentAttachment {
  readonly filename: string;
  readonly content: Uint8Array;
  readonly content_type?: string;
  readonly content_id?: string;
}

/** The fields of email.send, with attachments decoded. */
export interface SentMail {
  readonly from: string;
  readonly to: string | readonly string[];
  readonly cc?: string | readonly string[];
  readonly bcc?: string | readonly string[];
  readonly reply_to?: string | readonly string[];
  readonly subject: string;
  readonly html?: string;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly SentAttachment[];
  readonly tags?: readonly string[];
  readonly unsubscribe?: boolean;
  readonly track_opens?: boolean;
  readonly track_clicks?: boolean;
  readonly send_at?: string;
  readonly vendor?: string;
}

export interface NewMailRecipient {
  readonly kind: RecipientKind;
  readonly address: string;
}

export interface ReadMail {
  readonly content: MailContent;
  readonly recipients: readonly NewMailRecipient[];
}

const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]{0,99}$/;
/** Written here, or by the servers on the way. */
const OWN_HEADERS =
  /^(from|to|cc|bcc|sender|subject|date|message-id|mime-version|received|return-path|reply-to|dkim-signature|arc-.*|authentication-results|content-.*|resent-.*|x-quartermaster-.*)$/i;
const UNSUBSCRIBE_HEADERS = /^list-unsubscribe(-post)?$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;
const MEDIA_TYPE =
  /^[A-Za-z0-9!#$&^_.+-]{1,100}\/[A-Za-z0-9!#$&^_.+-]{1,100}(\s*;\s*[A-Za-z0-9-]+=("[^"\\]*"|[A-Za-z0-9._-]+))*$/;
const CONTENT_ID = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.@-]{1,200}$/;
/** Base64, broken into lines. */
const ENCODED_SHARE = 1.37;

/** Whether the service, or a server on the way, writes the header itself. */
export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.test(name) || !HEADER_NAME.test(name);
}

/**
 * `param`: what fields are named after, such as `items[3].`; empty for the call's own. `envelope`: who gets it, whomever its headers name;
 * null: whom they name.
 */
export function readMail(
  sent: SentMail,
  made: Pick<MailContent, 'messageId' | 'dateMs'>,
  param = '',
  envelope: readonly string[] | null = null,
): ReadMail {
  const { text = null, html = null } = sent;
  if (text === null && html === null) {
    throw invalidField(`${param}text`, 'required', `Send ${param}text, ${param}html, or both.`);
  }
  requireLine(sent.subject, `${param}subject`);
  const to = mailboxesOf(sent.to, `${param}to`);
  const cc = mailboxesOf(sent.cc, `${param}cc`);
  const content: MailContent = {
    from: requireMailbox(sent.from, `${param}from`),
    to,
    cc,
    subject: sent.subject,
    text,
    html,
    ...made,
    replyTo: mailboxesOf(sent.reply_to, `${param}reply_to`),
    headers: headersOf(sent, param),
    attachments: (sent.attachments ?? []).map((attachment, i) => attachmentOf(attachment, `${param}attachments[${i}]`)),
  };
  requireSize(content, param);
  const bcc = mailboxesOf(envelope ?? sent.bcc, `${param}bcc`);
  const recipients = recipientsOf({ to, cc, bcc }, param, envelope);
  return { content, recipients };
}

function mailboxesOf(sent: string | readonly string[] | undefined, param: string): Mailbox[] {
  if (sent === undefined) return [];
  if (typeof sent === 'string') return [requireMailbox(sent, param)];
  return sent.map((text, i) => requireMailbox(text, `${param}[${i}]`));
}

/** Each address once, where it is named first. */
function recipientsOf(
  named: Readonly<Record<RecipientKind, readonly Mailbox[]>>,
  param: string,
  envelope: readonly string[] | null,
): NewMailRecipient[] {
  const isMeant = envelope === null ? () => true : envelopeOf(envelope);
  const recipients = new Map<string, NewMailRecipient>();
  for (const kind of ['to', 'cc', 'bcc'] as const) {
    for (const { address } of named[kind]) {
      const id = address.toLowerCase();
      if (!recipients.has(id) && isMeant(id)) recipients.set(id, { kind, address });
    }
  }
  if (recipients.size > RECIPIENTS_MAX) {
    throw invalidField(
      `${param}to`,
      'too_many',
      `A mail takes ${RECIPIENTS_MAX} recipients; this one has ${recipients.size}.`,
    );
  }
  return [...recipients.values()];
}

function envelopeOf(addresses: readonly string[]): (id: string) => boolean {
  const ids = new Set(addresses.map((address) => readAddress(address)?.toLowerCase()));
  return (id) => ids.has(id);
}

function headersOf({ headers = {}, unsubscribe = false }: SentMail, param: string): [string, string][] {
  return Object.entries(headers).map(([name, value]) => {
    const field = `${param}headers.${name.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, '?')}`;
    if (!HEADER_NAME.test(name))
      throw invalidField(field, 'header_name', 'A header name has letters, digits and hyphens.');
    if (OWN_HEADERS.test(name) || (unsubscribe && UNSUBSCRIBE_HEADERS.test(name))) {
      throw invalidField(field, 'reserved', `The service writes ${name} itself; leave it out.`);
    }
    requireLine(value, field);
    return [name, value];
  });
}

function attachmentOf({ filename, content, content_type, content_id }: SentAttachment, param: string): Attachment {
  requireLine(filename, `${param}.filename`);
  const contentType = content_type ?? 'application/octet-stream';
  if (!MEDIA_TYPE.test(contentType)) {
    throw invalidField(
      `${param}.content_type`,
      'media_type',
      'content_type must be a media type, such as application/pdf.',
    );
  }
  if (content_id !== undefined && !CONTENT_ID.test(content_id)) {
    throw invalidField(
      `${param}.content_id`,
      'content_id',
      'content_id has letters, digits and . _ - @, without angle brackets.',
    );
  }
  return { filename, contentType, contentId: content_id ?? null, bytes: content };
}

function requireLine(text: string, param: string): void {
  if (!CONTROL.test(text) && text.isWellFormed()) return;
  throw invalidField(param, 'one_line', `${param} must be one line, without control characters.`);
}

function requireSize({ text, html, attachments }: MailContent, param: string): void {
  for (const [name, body] of Object.entries({ text, html })) {
    if (body !== null && Buffer.byteLength(body) > TEXT_BYTES_MAX) {
      throw invalidField(`${param}${name}`, 'too_long', `${name} may have 1 MiB.`);
    }
    if (body?.includes('\0') === true)
      throw invalidField(`${param}${name}`, 'characters', `${name} contains a NUL character.`);
  }
  const bytes = [text ?? '', html ?? '', ...attachments.map((one) => one.bytes)]
    .map((one) => (typeof one === 'string' ? Buffer.byteLength(one) : one.length))
    .reduce((sum, one) => sum + one, 0);
  if (bytes * ENCODED_SHARE > MAIL_BYTES_MAX) {
    throw invalidField(
      `${param}attachments`,
      'too_long',
      'A mail may have 10 MiB as it goes out: 7 MiB of attachments and texts.',
    );
  }
}
