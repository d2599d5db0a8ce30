// Composes the bytes of an outgoing mail: MIME by nodemailer's composer, which is loaded with the first mail, signed with DKIM. The same content
// and key always make the same bytes.
import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { lruOf } from '../../../lib/lru.ts';
import type { Mailbox } from '../addresses.ts';
import type { Attachment, MailContent } from '../messages/content.ts';

/** Links of one recipient's copy; null: the mail has none. */
export interface CopyLinks {
  /** HTML with the recipient's links and pixel in it; null: as it is. */
  readonly html: string | null;
  /** Where one click unsubscribes. */
  readonly unsubscribeUrl: string | null;
}

export interface DkimKey {
  readonly domain: string;
  readonly selector: string;
  /** PEM. */
  readonly privateKey: string;
}

const SIGNED_HEADERS =
  'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding:In-Reply-To:References:' +
  'List-Id:List-Unsubscribe:List-Unsubscribe-Post';
/** Encoded piece by piece, so that no piece takes long; a multiple of 57, which is a line of base64. */
const PIECE_BYTES = 57 * 1024;
const LONG_TEXT_BYTES = 64 * 1024;
/** Reading a key takes as long as half a signature. */
const keysRead = lruOf<KeyObject>(200);

export async function compose(content: MailContent, links: CopyLinks | null, key: DkimKey | null): Promise<Buffer> {
  const html = links?.html ?? content.html;
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const mail = new MailComposer({
    from: addressOf(content.from),
    to: content.to.map(addressOf),
    cc: content.cc.map(addressOf),
    replyTo: content.replyTo.map(addressOf),
    subject: content.subject,
    messageId: content.messageId,
    date: new Date(content.dateMs),
    headers: headersOf(content, links),
    ...(content.text === null ? {} : { text: bodyOf(content.text, 'text/plain; charset=utf-8') }),
    ...(html === null ? {} : { html: bodyOf(html, 'text/html; charset=utf-8') }),
    attachments: content.attachments.map(attachmentOf),
    // Boundaries are random unless they are given.
    baseBoundary: createHash('sha256').update(content.messageId).digest('hex').slice(0, 24),
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const unsigned = await mail.compile().build();
  return key === null ? unsigned : sign(unsigned, key);
}

function addressOf({ name, address }: Mailbox) {
  return { name, address };
}

function headersOf({ headers }: MailContent, links: CopyLinks | null) {
  const own = headers.map(([key, value]) => ({ key, value }));
  if (links?.unsubscribeUrl == null) return own;
  return [
    ...own,
    { key: 'List-Unsubscribe', value: { prepared: true, value: `<${links.unsubscribeUrl}>` } },
    { key: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
  ] as typeof own;
}

/** A long one goes as base64: quoted-printable looks at each character. */
function bodyOf(text: string, contentType: string) {
  const bytes = Buffer.from(text);
  // The composer takes no empty text, but empty bytes.
  if (bytes.length <= LONG_TEXT_BYTES) return { content: text === '' ? bytes : text, contentType };
  return { content: piecesOf(bytes), contentType, contentTransferEncoding: 'base64' };
}

function attachmentOf({ filename, contentType, contentId, bytes }: Attachment) {
  return {
    filename,
    contentType,
    contentTransferEncoding: 'base64',
    content: piecesOf(bytes),
    ...(contentId === null ? { contentDisposition: 'attachment' } : { cid: contentId, contentDisposition: 'inline' }),
  };
}

function piecesOf(bytes: Uint8Array): Readable {
  const pieces = function* () {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield Buffer.from(bytes.subarray(at, at + PIECE_BYTES));
  };
  return Readable.from(pieces());
}

async function sign(unsigned: Buffer, { domain, selector, privateKey: pem }: DkimKey): Promise<Buffer> {
  const read = keysRead.get(pem) ?? createPrivateKey(pem);
  keysRead.set(pem, read);
  // It goes to the signature of node:crypto, which takes both.
  const privateKey = read as unknown as string;
  const { default: DKIM } = await import('nodemailer/lib/dkim');
  const dkim = new DKIM({ domainName: domain, keySelector: selector, privateKey, headerFieldNames: SIGNED_HEADERS });
  const chunks: Buffer[] = [];
  for await (const chunk of dkim.sign(piecesOf(unsigned))) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
