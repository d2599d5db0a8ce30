// Parses a received mail in a thread, never on the event loop. Its sender chose all of it, so every text and list is cut to a bound, and holds
// nothing that the database cannot keep.
import { type Address, type Attachment, addressParser, decodeWords, type Email } from 'postal-mime';
import { cleanText } from '../../../lib/clean-text.ts';
import { readMime } from './mime.ts';

export interface ParsedAttachment {
  readonly filename: string | null;
  readonly content_type: string;
  readonly bytes: number;
  readonly content_id: string | null;
}

export interface ParsedMail {
  /** As a header: `Ada <ada@example.org>`; empty: the mail has none. */
  readonly from: string;
  readonly fromAddress: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly replyTo: string | null;
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  /** Text or HTML was longer than is kept of it; the source has all. */
  readonly isCut: boolean;
  readonly attachments: readonly ParsedAttachment[];
  /** With angle brackets. */
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  /** Servers that it has passed. */
  readonly hops: number;
}

const BOUNDS = { partsMax: 2_000, depthMax: 32, headerBytesMax: 256 * 1024 };
const TEXT_CHARACTERS_MAX = 64 * 1024;
const HTML_CHARACTERS_MAX = 256 * 1024;
const HEADER_CHARACTERS_MAX = 998;
const ADDRESSES_MAX = 100;
const ATTACHMENTS_MAX = 100;
const REFERENCES_MAX = 50;
const FILENAME_CHARACTERS_MAX = 255;
const TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/** Null: the mail is beyond the bounds of what is taken apart. */
export async function parseMail(source: Buffer): Promise<ParsedMail | null> {
  const mail = await readMime(source, BOUNDS);
  return mail === null ? null : parsedMail(mail);
}

/** The bytes of the attachment with that number, in the order of `parseMail`; null: there is none. */
export async function attachmentOf(source: Buffer, number: number): Promise<Uint8Array | null> {
  const found = (await readMime(source, BOUNDS))?.attachments.slice(0, ATTACHMENTS_MAX)[number];
  return found === undefined ? null : bytesOf(found);
}

function parsedMail(mail: Email): ParsedMail {
  const [from = ''] = addresses(mail.from === undefined ? [] : [mail.from]);
  const text = cutBody(mail.text, TEXT_CHARACTERS_MAX);
  const html = cutBody(mail.html, HTML_CHARACTERS_MAX);
  return {
    from,
    fromAddress: bareAddress(from),
    to: addresses(mail.to),
    cc: addresses(mail.cc),
    replyTo: addresses(mail.replyTo)[0] ?? null,
    subject: header(mail.subject ?? ''),
    text: text.text,
    html: html.text,
    isCut: text.isCut || html.isCut,
    attachments: mail.attachments.slice(0, ATTACHMENTS_MAX).map(attachment),
    messageId: messageIds(mail.messageId)[0] ?? null,
    inReplyTo: messageIds(mail.inReplyTo)[0] ?? null,
    references: messageIds(mail.references),
    hops: mail.headers.filter(({ key }) => key === 'received').length,
  };
}

function addresses(found: readonly Address[] = []): string[] {
  return found
    .flatMap((each) => (each.group === undefined ? [each] : each.group))
    .slice(0, ADDRESSES_MAX)
    .map(({ name, address }) => header(name === '' ? address : `${quoteName(name)} <${address}>`));
}

function quoteName(name: string): string {
  return /^[\w !#$%&'*+/=?^`{|}~-]+$/.test(name) ? name : `"${name.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** The address alone, in lower case, of `Ada <ada@example.org>`; empty: there is none. */
export function bareAddress(text: string): string {
  const [first] = addressParser(text, { flatten: true });
  return (first?.address ?? '').toLowerCase();
}

function header(value: string): string {
  return cleanText(
    value
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim()
      .slice(0, HEADER_CHARACTERS_MAX),
  );
}

function cutBody(body: string | undefined, charactersMax: number) {
  if (body === undefined) return { text: null, isCut: false };
  // A line end is two characters at most.
  const plain = body.slice(0, charactersMax * 2 + 2).replaceAll('\r\n', '\n');
  return { text: cleanText(plain.slice(0, charactersMax)), isCut: plain.length > charactersMax };
}

function attachment(part: Attachment): ParsedAttachment {
  const contentType = TYPE.test(part.mimeType) ? part.mimeType : 'application/octet-stream';
  const filename = header(decodeWords(part.filename ?? '')).slice(0, FILENAME_CHARACTERS_MAX);
  return {
    filename: filename === '' ? null : filename,
    content_type: contentType,
    bytes: bytesOf(part).length,
    content_id: header(part.contentId ?? '').replaceAll(/[<>]/g, '') || null,
  };
}

function bytesOf({ content }: Attachment): Uint8Array {
  return typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : new Uint8Array(content as ArrayBuffer);
}

function messageIds(value = ''): string[] {
  return (value.match(/<[^<>\s]{1,500}>/g) ?? []).slice(0, REFERENCES_MAX).map(cleanText);
}
