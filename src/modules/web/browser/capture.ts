// Takes a picture of a page. Measuring and drawing use the browser, never a script of the page.
import type { BrowserContext, Page } from 'playwright-core';
import { FULL_HEIGHT_MAX, TITLE_CHARACTERS_MAX } from '../limits.ts';
import type { Shot, ShotWish } from './wire.ts';

export async function capture(
  context: BrowserContext,
  page: Page,
  wish: ShotWish,
): Promise<Omit<Shot, 'url' | 'status'>> {
  const { width, format, quality, isFullPage } = wish;
  const session = await context.newCDPSession(page);
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  const fullHeight = Math.min(FULL_HEIGHT_MAX, Math.max(wish.height, Math.ceil(cssContentSize.height)));
  const height = isFullPage ? fullHeight : wish.height;
  const { data } = await session.send('Page.captureScreenshot', {
    format,
    ...(format !== 'png' && { quality }),
    ...(isFullPage && { captureBeyondViewport: true, clip: { x: 0, y: 0, width, height, scale: 1 } }),
  });
  const { currentIndex, entries } = await session.send('Page.getNavigationHistory');
  const title = entries[currentIndex]?.title.slice(0, TITLE_CHARACTERS_MAX).toWellFormed() || null;
  return { kind: 'shot', bytes: new Uint8Array(Buffer.from(data, 'base64')), title, width, height };
}
