// A document as it is sent: rendered, tagged and compressed once, so an answer costs only the bytes it sends.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip' | 'identity';

export interface Prepared {
  /** Weak (RFC 9110, section 8.8.1): one for all encodings of the same text. */
  readonly etag: string;
  /** Compressed when it is first asked for, and then kept. */
  encodedBody(encoding: Encoding): Promise<Buffer>;
}

const BROTLI_QUALITY = 9;

export function prepare(text: string): Prepared {
  const identity = Buffer.from(text);
  const kept = new Map<Encoding, Promise<Buffer>>([['identity', Promise.resolve(identity)]]);
  return {
    etag: tagOf(identity),
    encodedBody(encoding) {
      const known = kept.get(encoding);
      if (known !== undefined) return known;
      const ready = encoding === 'br' ? brotli(identity) : gzipText(identity);
      kept.set(encoding, ready);
      // Whoever waits is told of a failure; the next one tries again.
      ready.catch(() => kept.delete(encoding));
      return ready;
    },
  };
}

function brotli(text: Buffer): Promise<Buffer> {
  const windowBits = Math.ceil(Math.log2(text.length + 1));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    // A window of 4 MB for a page of 10 KB takes 30 times as long.
    [constants.BROTLI_PARAM_LGWIN]: Math.min(
      Math.max(windowBits, constants.BROTLI_MIN_WINDOW_BITS),
      constants.BROTLI_DEFAULT_WINDOW,
    ),
  };
  return promisify(brotliCompress)(text, { params });
}

function gzipText(text: Buffer): Promise<Buffer> {
  return promisify(gzip)(text, { level: constants.Z_BEST_COMPRESSION });
}

function tagOf(text: Buffer): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/** The best encoding that an Accept-Encoding header allows. */
export function encodingFor(accepted: string | undefined): Encoding {
  const quality = qualities(accepted);
  const allows = (name: string) => (quality.get(name) ?? quality.get('*') ?? 0) > 0;
  if (allows('br')) return 'br';
  return allows('gzip') ? 'gzip' : 'identity';
}

/** Whether an Accept header asks for a page rather than for data: browsers do, programs that name nothing do not. */
export function prefersPage(accepted: string | undefined): boolean {
  const quality = qualities(accepted);
  return (quality.get('text/html') ?? 0) > (quality.get('application/json') ?? 0);
}

/** Whether an Accept header asks for markdown: nobody names it who would rather have a page, unless with less weight. */
export function prefersMarkdown(accepted: string | undefined): boolean {
  const quality = qualities(accepted);
  const markdown = quality.get('text/markdown') ?? 0;
  return markdown > 0 && markdown >= (quality.get('text/html') ?? 0);
}

/** Whether an If-None-Match header names the document (RFC 9110, section 13.1.2). */
export function isUnchanged(named: string | undefined, etag: string): boolean {
  if (named === undefined) return false;
  const tags = named.split(',').map((tag) => tag.trim());
  return tags.includes('*') || tags.includes(etag) || tags.includes(etag.slice('W/'.length));
}

/** Each value of a list with its `q`; 1 where none is given, 0 where it cannot be read. */
function qualities(list: string | undefined): Map<string, number> {
  return new Map(
    (list ?? '').split(',').map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
      const given = parameters.find((parameter) => parameter.startsWith('q='));
      return [name, given === undefined ? 1 : Number(given.slice('q='.length)) || 0];
    }),
  );
}
