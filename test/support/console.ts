// Pages of the console in a real browser: signed in by a key, with what the browser may not have seen written down.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { expectAccessible } from './axe.ts';

export interface ConsolePage {
  readonly page: Page;
  /** Violations of the content policy and of Trusted Types, requests that left the service, and errors of scripts. */
  readonly faults: string[];
}

/** A browser that is signed in with the key, or not at all. It reaches the service alone: any other request is a fault. */
export async function openConsole(
  browser: Browser,
  url: string,
  secret: string | null,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  // The packaged browser's own is no name of a language.
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(3_000);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  await context.route('**/*', (route) => {
    const asked = new URL(route.request().url());
    if (asked.origin === new URL(url).origin || asked.protocol === 'data:') return route.continue();
    faults.push(`asked for ${asked.href}`);
    return route.abort();
  });
  if (secret !== null) {
    await page.goto(`${url}/console`);
    await page.fill('#key', secret);
    await page.click('form:has(#key) button');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/console');
  }
  return { page, faults };
}

/** The page has this heading, is accessible, is no wider than its window, and broke no policy. */
export async function expectSound({ page, faults }: ConsolePage, heading: string): Promise<void> {
  await expect.poll(() => page.textContent('h1')).toBe(heading);
  await expectAccessible(page);
  const [wide, window] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [
    number,
    number,
  ];
  expect(wide, `${page.url()} is wider than its window`).toBeLessThanOrEqual(window);
  expect(faults, page.url()).toEqual([]);
}
