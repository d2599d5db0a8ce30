// Reads a page: checks robots.txt, waits for the host's slot, fetches through the outbound guard, and converts to text in a thread. Each
// redirect passes all checks.
import { createHash } from 'node:crypto';
import { PAGE_BYTES_MAX } from '../limits.ts';
import type { ReadTask } from '../read/wire.ts';
import type { WebState } from '../state.ts';
import { type GetOptions, type Got, get } from './request.ts';

export interface PageWish extends Pick<ReadTask, 'format' | 'mainContent' | 'links' | 'isDrawn'> {
  readonly url: string;
  /** Of the content, in UTF-8. */
  readonly bytesMax: number;
}

export interface Page {
  /** After redirects. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly title: string | null;
  readonly byline: string | null;
  readonly language: string | null;
  readonly description: string | null;
  readonly content: string;
  readonly links: readonly string[];
  /** SHA-256 of the content, in hex. */
  readonly contentHash: string;
  readonly truncated: boolean;
  /** Its text is empty beside its scripts. */
  readonly isShell: boolean;
}

const ACCEPT = 'text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5';

/** As the site sent it. For whom: accounts take turns. Throws TARGET_REJECTED, ROBOTS_DISALLOWED, TARGET_FAILED, RATE_LIMITED, CONCURRENCY_LIMITED, OVERLOADED. */
export async function readPage(
  web: WebState,
  accountId: string,
  wish: PageWish,
  signal: AbortSignal,
  hold?: GetOptions['hold'],
): Promise<Page> {
  return readGot(web, accountId, await getPage(web, accountId, wish.url, signal, hold), wish, signal);
}

/** The bytes of a page. `hold` counts them, as they come, among those that calls may hold. */
export function getPage(
  web: WebState,
  accountId: string,
  url: string,
  signal: AbortSignal,
  hold?: GetOptions['hold'],
): Promise<Got> {
  return getPolitely(web, accountId, url, {
    signal,
    bytesMax: PAGE_BYTES_MAX,
    accept: ACCEPT,
    ...(hold !== undefined && { hold }),
  });
}

/** What is made of them, which a thread takes: they are the caller's no more. */
export async function readGot(
  web: WebState,
  accountId: string,
  got: Got,
  { format, mainContent, links, bytesMax, isDrawn = false }: PageWish,
  signal: AbortSignal,
): Promise<Page> {
  const { url, status, contentType } = got;
  const task = { bytes: got.bytes, contentType, url, format, mainContent, links, bytesMax, isDrawn };
  const read = await web.readers.run(accountId, task, signal);
  return {
    url,
    status,
    contentType,
    title: read.title,
    byline: read.byline,
    language: read.language,
    description: read.description,
    content: read.content,
    links: read.links,
    contentHash: createHash('sha256').update(read.content).digest('hex'),
    truncated: read.truncated || got.truncated,
    isShell: read.isShell,
  };
}

/** One GET that obeys robots.txt and waits for the host's turn, at each address that it is led to. */
export function getPolitely(
  { core, robots, pace, userAgent }: WebState,
  accountId: string,
  url: string,
  options: Pick<GetOptions, 'signal' | 'bytesMax' | 'accept' | 'hold' | 'isPublicOnly'>,
): Promise<Got> {
  const { signal } = options;
  return get(core, url, {
    ...options,
    userAgent,
    async before(at) {
      const { delayMs } = await robots.allow(at, signal, options.isPublicOnly);
      await pace.turn(accountId, new URL(at).host, delayMs, signal);
    },
  });
}
