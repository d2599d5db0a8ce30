// Stored form of a mail as its call described it: the fields as JSON, then the bytes of the attachments. It is composed anew whenever it is sent
// or shown, always to the same bytes.
import type { Mailbox } from '../addresses.ts';

export interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  /** Of a part that the HTML shows by `cid:`; null: a file. */
  readonly contentId: string | null;
  readonly bytes: Uint8Array;
}

export interface MailContent {
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly replyTo: readonly Mailbox[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** With its angle brackets. */
  readonly messageId: string;
  readonly dateMs: number;
  readonly attachments: readonly Attachment[];
}

type Head = Omit<MailContent, 'attachments'> & {
  readonly attachments: readonly (Omit<Attachment, 'bytes'> & { readonly length: number })[];
};

const LENGTH_BYTES = 4;

export function packContent(content: MailContent): Buffer {
  const attachments = content.attachments.map(({ bytes, ...about }) => ({ ...about, length: bytes.length }));
  const head = Buffer.from(JSON.stringify({ ...content, attachments } satisfies Head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, ...content.attachments.map(({ bytes }) => bytes)]);
}

export function unpackContent(packed: Uint8Array): MailContent {
  const buffer = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  let at = LENGTH_BYTES + buffer.readUInt32BE();
  const head = JSON.parse(buffer.toString('utf8', LENGTH_BYTES, at)) as Head;
  const attachments = head.attachments.map(({ length, ...about }) => {
    const bytes = buffer.subarray(at, at + length);
    at += length;
    return { ...about, bytes };
  });
  return { ...head, attachments };
}
