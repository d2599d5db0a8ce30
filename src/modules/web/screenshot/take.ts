// A screenshot from its address on: the page is fetched as every page is, before a browser is begun for it.
import { getPolitely } from '../fetch/page.ts';
import { PAGE_BYTES_MAX } from '../limits.ts';
import type { WebState } from '../state.ts';
import { PageRequests, siteAnswer } from './page-requests.ts';
import type { Shot, ShotWish } from './wire.ts';

const ACCEPT = 'text/html,application/xhtml+xml,image/*;q=0.9,*/*;q=0.8';

/** Throws what `getPolitely` and `Shots.take` do. */
export async function takeScreenshot(
  web: WebState,
  accountId: string,
  url: string,
  wish: ShotWish,
  signal: AbortSignal,
): Promise<Shot> {
  const got = await getPolitely(web, accountId, url, { signal, bytesMax: PAGE_BYTES_MAX, accept: ACCEPT });
  return web.shots.take(accountId, siteAnswer(got), wish, signal, (ends) => {
    const requests = new PageRequests(web, accountId, got, ends);
    return (question) => requests.answer(question);
  });
}
