// Kind and character encoding of a page's bytes. A byte order mark, the header, or a `<meta>` within the first 1,024 bytes decides, in this
// order (WHATWG Encoding and HTML §13.2.3.2). Without any: UTF-8 if the bytes are valid UTF-8, else windows-1252.
import { Refused } from './refused.ts';

export type PageKind = 'html' | 'pdf' | 'plain';

const HTML_TYPES = /^(?:text\/html|application\/xhtml\+xml)$/;
const PLAIN_TYPES =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|yaml)|application\/(?:x-)?(?:javascript|ecmascript|ndjson|yaml|toml|sh|sql)|image\/svg\+xml)$/;
const SNIFFED_BYTES = 1_024;

/** `contentType` is the header; without one the bytes tell. */
export function kindOf(contentType: string | null, bytes: Uint8Array): PageKind {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/pdf' || type === 'application/x-pdf') return 'pdf';
  if (HTML_TYPES.test(type)) return 'html';
  if (PLAIN_TYPES.test(type)) return 'plain';
  if (type === '' || type === 'application/octet-stream') return sniffKind(bytes);
  throw new Refused(
    'unsupported_type',
    `The address answers ${type.slice(0, 100)}. Pages are HTML, text, JSON, XML or PDF.`,
  );
}

function sniffKind(bytes: Uint8Array): PageKind {
  const head = Buffer.from(bytes.subarray(0, SNIFFED_BYTES)).toString('latin1');
  if (head.includes('%PDF-')) return 'pdf';
  if (/^[^<]{0,16}(?:<!--|<!doctype html|<html|<head|<body|<title|<meta|<div|<p[ >]|<h1)/i.test(head.trimStart()))
    return 'html';
  if (bytes.subarray(0, SNIFFED_BYTES).some(isControl))
    throw new Refused(
      'unsupported_type',
      'The address answers bytes of no named type. Pages are HTML, text, JSON, XML or PDF.',
    );
  return 'plain';
}

/** Bytes that stand in no text. */
const isControl = (byte: number) => byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b);

export function charactersOf(contentType: string | null, bytes: Uint8Array): string {
  const label = markOf(bytes) ?? headerLabel(contentType) ?? metaLabel(bytes);
  const decoder = label === null ? null : decoderOf(label);
  if (decoder !== null) return decoder.decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder(label === null ? 'windows-1252' : 'utf-8').decode(bytes);
  }
}

function markOf(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : null;
}

function headerLabel(contentType: string | null): string | null {
  return /;\s*charset\s*=\s*["']?([^\s"';]{1,40})/i.exec(contentType ?? '')?.[1] ?? null;
}

/** A page whose `<meta>` could be read is no UTF-16, whatever it says. */
function metaLabel(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, SNIFFED_BYTES)).toString('latin1');
  const label =
    /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]{1,40})/i.exec(head)?.[1] ??
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']{1,40})/.exec(head)?.[1] ??
    null;
  return label !== null && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function decoderOf(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}
