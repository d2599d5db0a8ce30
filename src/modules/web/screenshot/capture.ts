// Captures a page in a browser of its own, with scripts enabled. A page reaches the network only by GET requests that the service answers;
// further windows are closed. Measuring and drawing use the browser, never a script of the page.
import type { BrowserContext, Page, Request } from 'playwright-core';
import { guardedContext, isOfPage, withBrowser } from '../../../browser/browser.ts';
import { FULL_HEIGHT_MAX, TITLE_CHARACTERS_MAX } from '../limits.ts';
import type { AskSite, ShotAnswer, ShotTask, SiteAnswer } from './wire.ts';

const LOAD_MS = 15_000;
/** For a page that the first one led to. */
const LEAD_MS = 2_000;

export async function capture(task: ShotTask, ask: AskSite): Promise<ShotAnswer> {
  return withBrowser(task, async (browser) => {
    const visit = new Visit(task.page, ask);
    const { width, height, isDark } = task;
    const look = { colorScheme: isDark ? 'dark' : 'light', reducedMotion: 'reduce', deviceScaleFactor: 1 } as const;
    const context = await guardedContext(browser, { ...look, viewport: { width, height } }, visit.answer);
    const page = await context.newPage();
    visit.page = page;
    context.on('page', (other) => void other.close().catch(() => undefined));
    if (!(await load(page, task))) {
      const message = `The address answered with nothing that a browser shows (status ${task.page.status}).`;
      return { kind: 'refused', rule: 'unsupported_type', message };
    }
    // The browser's own page of a failure, or what a script made up.
    if (!/^https?:$/.test(new URL(page.url()).protocol)) {
      const message = 'The page led to an address that may not be fetched, fails, or is neither http nor https.';
      return { kind: 'refused', rule: 'not_shown', message };
    }
    return draw(context, page, task, visit.shown);
  });
}

/** One page, and what it asks for. */
class Visit {
  /** The page that was answered last. */
  shown: SiteAnswer;
  page: Page | null = null;
  readonly #ask: AskSite;
  #hasBegun = false;

  constructor(first: SiteAnswer, ask: AskSite) {
    this.shown = first;
    this.#ask = ask;
  }

  readonly answer = async (request: Request): Promise<SiteAnswer | null> => {
    const url = request.url();
    if (request.method() !== 'GET' || !/^https?:/i.test(url) || !this.#isOwn(request)) return null;
    const isPage = isOfPage(request);
    if (isPage && !this.#hasBegun) {
      this.#hasBegun = true;
      return this.shown;
    }
    const answered = await this.#ask({ url, isPage, origin: request.headers().origin ?? null });
    if (isPage && answered !== null) this.shown = answered;
    return answered;
  };

  /** Not of a further window, which has no frame yet when it asks. */
  #isOwn(request: Request): boolean {
    try {
      return request.frame().page() === this.page;
    } catch {
      return false;
    }
  }
}

/** Whether the address shows anything. A page that never ends loading is shown as far as it came. */
async function load(page: Page, { page: { url }, waitMs }: ShotTask): Promise<boolean> {
  try {
    await page.goto(url, { waitUntil: 'commit', timeout: LOAD_MS });
  } catch (error) {
    if (page.isClosed() || !/ERR_ABORTED|Download is starting|ERR_INVALID_RESPONSE/.test(String(error))) throw error;
    return false;
  }
  await waitForLoad(page, LOAD_MS);
  if (waitMs > 0) await page.waitForTimeout(waitMs);
  await waitForLoad(page, LEAD_MS);
  return true;
}

async function waitForLoad(page: Page, timeout: number): Promise<void> {
  await page.waitForLoadState('load', { timeout }).catch((error: Error) => {
    if (error.name !== 'TimeoutError') throw error;
  });
}

async function draw(context: BrowserContext, page: Page, task: ShotTask, shown: SiteAnswer): Promise<ShotAnswer> {
  const { width, format, quality, isFullPage } = task;
  const session = await context.newCDPSession(page);
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  const fullHeight = Math.min(FULL_HEIGHT_MAX, Math.max(task.height, Math.ceil(cssContentSize.height)));
  const height = isFullPage ? fullHeight : task.height;
  const { data } = await session.send('Page.captureScreenshot', {
    format,
    ...(format !== 'png' && { quality }),
    ...(isFullPage && { captureBeyondViewport: true, clip: { x: 0, y: 0, width, height, scale: 1 } }),
  });
  const { currentIndex, entries } = await session.send('Page.getNavigationHistory');
  const title = entries[currentIndex]?.title.slice(0, TITLE_CHARACTERS_MAX).toWellFormed() || null;
  const bytes = new Uint8Array(Buffer.from(data, 'base64'));
  return { kind: 'shot', bytes, url: shown.url, status: shown.status, title, width, height };
}
