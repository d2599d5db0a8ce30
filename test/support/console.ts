// Pages of the console in a real browser: signed in by a key, with what the browser may not have seen written down.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { expectAccessible } from './axe.ts';
import { PageVisitor, type Visit } from './page-visitor.ts';

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

/** Widths and colours that pages are looked at in. */
export const looks = [
  { width: 360, colorScheme: 'dark' },
  { width: 1_440, colorScheme: 'light' },
] as const;

/** Each page of `paths` (below /console, with its heading) is sound. SCREENSHOTS: a directory that keeps a picture of each. */
export async function expectSoundPages(
  browser: Browser,
  url: string,
  secret: string,
  { width, colorScheme }: (typeof looks)[number],
  paths: readonly (readonly [string, string])[],
): Promise<void> {
  const opened = await openConsole(browser, url, secret, { viewport: { width, height: 900 }, colorScheme });
  const { SCREENSHOTS: pictures } = process.env;
  for (const [path, heading] of paths) {
    await opened.page.goto(`${url}/console/${path}`);
    const name = `${path.replaceAll(/[^a-z0-9]+/gi, '-')}-${width}.png`;
    if (pictures !== undefined) await opened.page.screenshot({ path: `${pictures}/${name}`, fullPage: true });
    // The browser tells an answer that is no page as an error of the console.
    opened.faults.splice(
      0,
      opened.faults.length,
      ...opened.faults.filter((fault) => !/status of (404|403|400)/.test(fault)),
    );
    await expectSound(opened, heading);
  }
  await opened.page.context().close();
}

/** A session of the key without a browser. */
export async function signedIn(url: string, secret: string): Promise<PageVisitor> {
  const visitor = new PageVisitor(url);
  await visitor.post('/auth/key', { key: secret, return_to: '/console' });
  return visitor;
}

/** Sends the form `act` of the page, as it stands there. */
export async function sendForm(
  visitor: PageVisitor,
  path: string,
  act: string,
  fields: Record<string, string> = {},
): Promise<Visit> {
  const { text } = await visitor.get(path);
  expect(text, path).toContain(`name="act" value="${act}"`);
  const [, formToken = ''] = /name="form_token" value="([^"]+)"/.exec(text) ?? [];
  const [, formKey = ''] = /name="form_key" value="([^"]+)"/.exec(text) ?? [];
  return visitor.post(path, { form_token: formToken, form_key: formKey, act, ...fields });
}
