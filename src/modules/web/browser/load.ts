// How a page is begun and waited for.
import type { Page } from 'playwright-core';

export const LOAD_MS = 15_000;

/** Whether the address shows anything. */
export async function beginLoad(page: Page, url: string): Promise<boolean> {
  try {
    await page.goto(url, { waitUntil: 'commit', timeout: LOAD_MS });
    return true;
  } catch (error) {
    if (page.isClosed() || !/ERR_ABORTED|Download is starting|ERR_INVALID_RESPONSE/.test(String(error))) throw error;
    return false;
  }
}

/** A page that never ends loading is taken as far as it came. */
export async function waitForLoad(page: Page, timeout = LOAD_MS): Promise<void> {
  await page.waitForLoadState('load', { timeout }).catch((error: Error) => {
    if (error.name !== 'TimeoutError') throw error;
  });
}

/** Not on the browser's own page of a failure, or on what a script made up. */
export function isOnWeb(page: Page): boolean {
  return /^https?:$/.test(new URL(page.url()).protocol);
}
