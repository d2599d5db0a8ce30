// Takes a screenshot of a URL: the page is fetched like any other page before a browser is started for it.
import { getPolitely } from '../fetch/page.ts';
import type { GetOptions } from '../fetch/request.ts';
import { PAGE_BYTES_MAX } from '../limits.ts';
import type { WebState } from '../state.ts';
import { PageRequests, siteAnswer } from './page-requests.ts';
import type { Shot, ShotWish } from './wire.ts';

const ACCEPT = 'text/html,application/xhtml+xml,image/*;q=0.9,*/*;q=0.8';

/** `hold` counts what the page brings, as it comes. Throws what `getPolitely` and `Browsers.shoot` do. */
export async function takeScreenshot(
  web: WebState,
  accountId: string,
  url: string,
  look: ShotWish,
  { signal, hold }: Pick<GetOptions, 'signal' | 'hold'>,
): Promise<Shot> {
  const holding = hold === undefined ? {} : { hold };
  const wish = { signal, bytesMax: PAGE_BYTES_MAX, accept: ACCEPT, ...holding };
  const got = await getPolitely(web, accountId, url, wish);
  return web.browsers.shoot(accountId, siteAnswer(got), look, signal, (ends) => {
    const requests = new PageRequests(web, accountId, got, { signal: ends, ...holding });
    return (question) => requests.answer(question);
  });
}
