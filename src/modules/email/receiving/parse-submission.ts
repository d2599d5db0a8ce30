// Parses a mail that a program submits by SMTP into the fields of email.send, in a thread. Nothing is truncated: what is too long is refused, as
// by email.send.
import type { Address, Attachment } from 'postal-mime';
import { readMime } from './mime.ts';

export interface SubmittedMail {
  /** Each as `Ada <ada@example.org>`. */
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  /** As they were sent, unfolded; the first of each name. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly attachments: readonly SubmittedAttachment[];
  /** With angle brackets. */
  readonly messageId: string | null;
}

export interface SubmittedAttachment {
  readonly filename: string;
  readonly content: Uint8Array;
  readonly content_type: string;
  readonly content_id?: string;
}

const BOUNDS = { partsMax: 1_000, depthMax: 32, headerBytesMax: 256 * 1024 };
const NAMES_MAX = 200;

/** Null: it is beyond the bounds of what is taken apart. */
export async function parseSubmission(source: Buffer): Promise<SubmittedMail | null> {
  const mail = await readMime(source, BOUNDS);
  if (mail === null) return null;
  const headers = new Map<string, readonly [string, string]>();
  for (const { key, originalKey, value } of mail.headers.slice(0, NAMES_MAX))
    if (!headers.has(key)) headers.set(key, [originalKey, value]);
  const [from = ''] = texts(mail.from === undefined ? [] : [mail.from]);
  return {
    from,
    to: texts(mail.to),
    cc: texts(mail.cc),
    replyTo: texts(mail.replyTo),
    subject: mail.subject ?? '',
    text: bodyOf(mail.text),
    html: bodyOf(mail.html),
    headers: [...headers.values()],
    attachments: mail.attachments.map(attachmentOf),
    messageId: /<[^<>\s]{3,250}>/.exec(mail.messageId ?? '')?.[0] ?? null,
  };
}

function texts(addresses: readonly Address[] = []): string[] {
  return addresses
    .flatMap((each) => (each.group === undefined ? [each] : each.group))
    .map(({ name, address }) => (name === '' ? address : `"${name.replaceAll(/["\\]/g, '\\$&')}" <${address}>`));
}

function bodyOf(text: string | undefined): string | null {
  return text === undefined ? null : text.replaceAll('\r\n', '\n');
}

function attachmentOf({ filename, mimeType, contentId = '', content }: Attachment): SubmittedAttachment {
  const id = contentId.replaceAll(/[<>\s]/g, '');
  return {
    filename: filename ?? (mimeType === 'message/rfc822' ? 'message.eml' : 'attachment'),
    content:
      typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : new Uint8Array(content as ArrayBuffer),
    content_type: mimeType,
    ...(id === '' ? {} : { content_id: id }),
  };
}
