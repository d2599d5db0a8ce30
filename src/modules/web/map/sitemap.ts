// Sitemap parser (sitemaps.org, protocol 0.9): XML of pages or of further sitemaps, or text with one URL a line; either may be gzipped. The file
// is untrusted: it is parsed piece by piece, in time slices, with bounds on depth and on the number and length of URLs.
import { Parser } from 'htmlparser2';
import { inflateBody } from '../../../core/inflate.ts';
import { TimeSlices } from '../../../lib/time-slices.ts';
import { SITEMAP_BYTES_MAX, SITEMAP_DEPTH_MAX, SITEMAP_URLS_MAX, URL_CHARACTERS_MAX } from '../limits.ts';

/** The parser looks through all open elements at each end: a short piece bounds what that costs before the depth is seen. */
const PIECE_BYTES = 4 * 1024;
const slices = new TimeSlices();

export interface Located {
  readonly kind: 'page' | 'sitemap';
  /** As it stands there, trimmed. */
  readonly url: string;
}

/** What a sitemap names, in its order. What is no sitemap names nothing; one that was cut, or breaks off, names what came before. */
export async function* sitemapEntries(bytes: Buffer, isCut = false): AsyncGenerator<Located, void, undefined> {
  const { plain, isWhole } = isGzip(bytes) ? await unzipSitemap(bytes) : { plain: bytes, isWhole: !isCut };
  const found: Located[] = [];
  const reader = /^(?:\ufeff|\s)*</.test(plain.toString('utf8', 0, 64)) ? new XmlReader(found) : new LineReader(found);
  const decoder = new TextDecoder();
  let count = 0;
  for (let at = 0; at < plain.length; at += PIECE_BYTES) {
    if (slices.isOver) await slices.next();
    const goesOn = reader.write(decoder.decode(plain.subarray(at, at + PIECE_BYTES), { stream: true }));
    for (const one of found.splice(0)) {
      yield one;
      count += 1;
      if (count === SITEMAP_URLS_MAX) return;
    }
    if (!goesOn) return;
  }
  // Half an address at the place where it was cut is no address.
  if (isWhole) reader.end();
  yield* found;
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

async function unzipSitemap(bytes: Buffer): Promise<{ plain: Buffer; isWhole: boolean }> {
  const pieces: Buffer[] = [];
  let left = SITEMAP_BYTES_MAX;
  try {
    for await (const piece of inflateBody(once(bytes), 'gzip', Number.MAX_SAFE_INTEGER)) {
      pieces.push(piece.subarray(0, left));
      left -= piece.length;
      if (left < 0) return { plain: Buffer.concat(pieces), isWhole: false };
    }
    return { plain: Buffer.concat(pieces), isWhole: true };
  } catch {
    // What came before the break is a sitemap's beginning.
    return { plain: Buffer.concat(pieces), isWhole: false };
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** `loc` of a `url` or a `sitemap`; those of pictures and videos stand in elements of their own. */
class XmlReader {
  readonly #found: Located[];
  readonly #open: string[] = [];
  #text = '';
  readonly #parser = new Parser(
    {
      onopentag: (name) => {
        this.#open.push(localName(name));
        this.#text = '';
      },
      ontext: (text) => {
        if (this.#text.length <= URL_CHARACTERS_MAX) this.#text += text;
      },
      onclosetag: () => this.#close(),
    },
    { xmlMode: true },
  );

  constructor(found: Located[]) {
    this.#found = found;
  }

  write(text: string): boolean {
    this.#parser.write(text);
    return this.#open.length <= SITEMAP_DEPTH_MAX;
  }

  /** Elements that are still open end nowhere. */
  end(): void {}

  #close(): void {
    const name = this.#open.pop();
    const parent = this.#open.at(-1);
    if (name !== 'loc' || (parent !== 'url' && parent !== 'sitemap')) return;
    const url = this.#text.trim();
    if (url !== '' && url.length <= URL_CHARACTERS_MAX) {
      this.#found.push({ kind: parent === 'url' ? 'page' : 'sitemap', url });
    }
  }
}

class LineReader {
  readonly #found: Located[];
  #rest = '';

  constructor(found: Located[]) {
    this.#found = found;
  }

  write(text: string): boolean {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    // No address is so long: this is no sitemap.
    return this.#rest.length <= URL_CHARACTERS_MAX;
  }

  end(): void {
    this.#take(this.#rest);
  }

  #take(line: string): void {
    const url = line.trim();
    if (url.length <= URL_CHARACTERS_MAX && /^https?:\/\//i.test(url)) this.#found.push({ kind: 'page', url });
  }
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}
