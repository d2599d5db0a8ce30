// Decodes bytes embedded in a text: base64 or base64url, also as a data URL (RFC 2397).

/** Looked for one at a time: a repetition over 14 MB takes more stack than there is, once V8 has given up optimizing expressions. */
const NOT_BASE64 = /[^A-Za-z0-9+/_-]/;
const DATA_URL_HEAD = /^data:([a-z]+\/[a-z0-9.+-]{1,100})?(?:;[a-z0-9-]{1,40}=[^;,]{0,200}){0,4};base64,/i;

export interface InlineBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As a data URL names it, in lower case. */
  readonly contentType: string | null;
}

/** In memory of their own, so that they can be handed to a thread. Null: it is neither, or empty. */
export function readInlineBytes(sent: string): InlineBytes | null {
  const [head = '', contentType] = DATA_URL_HEAD.exec(sent) ?? [];
  const padding = sent.endsWith('==') ? 2 : Number(sent.endsWith('='));
  const text = sent.slice(head.length, sent.length - padding);
  if (text === '' || text.length % 4 === 1 || NOT_BASE64.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  // Small buffers are parts of one that others use.
  const own = bytes.length === bytes.buffer.byteLength ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
  return { bytes: own, contentType: contentType?.toLowerCase() ?? null };
}
