// Site map: the pages of a site that its sitemaps and one of its pages name. Sitemaps are found in robots.txt, else at /sitemap.xml; entries of
// a sitemap index are read too, one level deep. Each request waits for the host's slot, so there are only a few.
import { Problem } from '../../../problems/problem.ts';
import { getPolitely, readPage } from '../fetch/page.ts';
import { SITEMAP_BYTES_MAX, SITEMAPS_READ_MAX } from '../limits.ts';
import type { WebState } from '../state.ts';
import { type Located, sitemapEntries } from './sitemap.ts';

export interface MapWish {
  readonly url: string;
  readonly linksMax: number;
}

/** Addresses on the page's own host, each once. Throws what `readPage` throws; a sitemap that cannot be read names nothing. */
export async function mapSite(
  web: WebState,
  accountId: string,
  { url, linksMax }: MapWish,
  signal: AbortSignal,
  hold?: (bytes: number) => void,
): Promise<readonly string[]> {
  const wish = { url, format: 'text', mainContent: false, links: true, bytesMax: 1 } as const;
  const page = await readPage(web, accountId, wish, signal, hold);
  const links = new SameHost(page.url, linksMax);
  const sitemaps = await namedSitemaps(web, page.url, signal);
  const ofIndex = new Set<string>();
  let read = 0;
  for (const each of [sitemaps, ofIndex]) {
    for (const sitemap of each) {
      if (links.isFull || read === SITEMAPS_READ_MAX) break;
      read += 1;
      for await (const { kind, url: named } of namesIn(web, accountId, sitemap, signal)) {
        if (kind === 'page') links.add(named);
        else if (each === sitemaps && ofIndex.size < SITEMAPS_READ_MAX && !sitemaps.has(named)) ofIndex.add(named);
        if (links.isFull) break;
      }
    }
  }
  for (const link of page.links) links.add(link);
  return links.list;
}

async function namedSitemaps(web: WebState, pageUrl: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const { origin } = new URL(pageUrl);
  const named = await web.robots.sitemaps(origin, signal).catch(unlessAborted(signal, []));
  return new Set(named.length > 0 ? named : [`${origin}/sitemap.xml`]);
}

async function* namesIn(web: WebState, accountId: string, url: string, signal: AbortSignal): AsyncGenerator<Located> {
  const got = await getPolitely(web, accountId, url, { signal, bytesMax: SITEMAP_BYTES_MAX }).catch(
    unlessAborted(signal, null),
  );
  if (got !== null && got.status >= 200 && got.status < 300) yield* sitemapEntries(got.bytes, got.truncated);
}

function unlessAborted<T>(signal: AbortSignal, instead: T) {
  return (error: unknown): T => {
    if (signal.aborted || !(error instanceof Problem)) throw error;
    return instead;
  };
}

class SameHost {
  readonly #host: string;
  readonly #base: string;
  readonly #max: number;
  readonly #links = new Set<string>();

  constructor(base: string, max: number) {
    this.#host = new URL(base).host;
    this.#base = base;
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#links.size >= this.#max;
  }

  get list(): readonly string[] {
    return [...this.#links];
  }

  add(link: string): void {
    if (this.isFull) return;
    const url = URL.parse(link, this.#base);
    if (url === null || url.host !== this.#host || (url.protocol !== 'https:' && url.protocol !== 'http:')) return;
    url.hash = '';
    this.#links.add(url.href);
  }
}
