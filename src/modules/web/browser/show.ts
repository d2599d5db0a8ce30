// Shows a page in a browser of its own, with scripts enabled, and makes a picture or HTML of it. A page reaches the network only by GET requests
// that the service answers; further windows are closed.
import type { BrowserContext, Page } from 'playwright-core';
import { guardedContext, withBrowser } from '../../../browser/browser.ts';
import { SHOT_HEIGHT_USUAL, SHOT_WIDTH_USUAL } from '../limits.ts';
import { capture } from './capture.ts';
import { drawHtml, waitUntilDrawn } from './html.ts';
import { beginLoad, isOnWeb, waitForLoad } from './load.ts';
import { Visit } from './visit.ts';
import type { AskSite, BrowserAnswer, BrowserTask, BrowserWish } from './wire.ts';

/** For a page that the first one led to. */
const LEAD_MS = 2_000;

export async function showPage(task: BrowserTask, ask: AskSite): Promise<BrowserAnswer> {
  const { page: site, wish } = task;
  return withBrowser(task, async (browser) => {
    const visit = new Visit(site, ask);
    const context = await guardedContext(browser, lookOf(wish), visit.answer);
    const page = await context.newPage();
    visit.page = page;
    context.on('page', (other) => void other.close().catch(() => undefined));
    if (!(await beginLoad(page, site.url))) {
      const message = `The address answered with nothing that a browser shows (status ${site.status}).`;
      return { kind: 'refused', rule: 'unsupported_type', message };
    }
    return (await makeOf(context, page, visit, wish)) ?? NOWHERE;
  });
}

const NOWHERE = {
  kind: 'refused',
  rule: 'not_shown',
  message: 'The page led to an address that may not be fetched, fails, or is neither http nor https.',
} as const;

function lookOf(wish: BrowserWish) {
  const { width, height, isDark } =
    wish.make === 'shot' ? wish : { width: SHOT_WIDTH_USUAL, height: SHOT_HEIGHT_USUAL, isDark: false };
  const colorScheme = isDark ? 'dark' : 'light';
  return { colorScheme, reducedMotion: 'reduce', deviceScaleFactor: 1, viewport: { width, height } } as const;
}

/** Null: the page led elsewhere than to the web. */
async function makeOf(
  context: BrowserContext,
  page: Page,
  visit: Visit,
  wish: BrowserWish,
): Promise<BrowserAnswer | null> {
  if (wish.make === 'html') {
    const session = await context.newCDPSession(page);
    const hasCome = await waitUntilDrawn(session, page, visit, wish.waitFor);
    return isOnWeb(page) ? { ...(await drawHtml(session, wish.bytesMax)), ...placeOf(visit), hasCome } : null;
  }
  await waitForLoad(page);
  if (wish.waitMs > 0) await page.waitForTimeout(wish.waitMs);
  await waitForLoad(page, LEAD_MS);
  return isOnWeb(page) ? { ...(await capture(context, page, wish)), ...placeOf(visit) } : null;
}

const placeOf = ({ shown: { url, status } }: Visit) => ({ url, status });
