// Pages of the console in a real browser: signed in by a key, with what the browser may not have seen written down.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import type { Services } from '../../src/kit/services.ts';
import { createPerson } from '../../src/people/persons.ts';
import type { Role } from '../../src/people/roles.ts';
import { openSession } from '../../src/people/sessions/sessions.ts';
import { expectAccessible } from './axe.ts';
import { PageVisitor, type Visit } from './page-visitor.ts';

export interface ConsolePage {
  readonly page: Page;
  /** Violations of the content policy and of Trusted Types, requests that left the service, and errors of scripts. */
  readonly faults: string[];
}

/** The secret of a key, or the token of a session. */
export type SignedInBy = string | { readonly session: string };

const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('violation of ' + violatedDirective + ' by ' + blockedURI))`;

/** A browser that is signed in, or not at all. It reaches the service alone: any other request is a fault. */
export async function openConsole(
  browser: Browser,
  url: string,
  secret: SignedInBy | null,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  // The packaged browser's own is no name of a language.
  const context = await browser.newContext({ locale: 'en-US', ...options });
  await context.addInitScript(TELL_VIOLATIONS);
  const page = await context.newPage();
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
  if (typeof secret === 'object' && secret !== null) {
    await context.addCookies([{ name: 'qm_session', value: secret.session, url }]);
  } else if (secret !== null) {
    await page.goto(`${url}/console`);
    await page.fill('#key', secret);
    await page.click('form:has(#key) button');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/console');
  }
  return { page, faults };
}

/**
 * The page has this heading, or any, is accessible, is no wider than its window, and broke no policy. `isRefused`: it was answered with a status of
 * failure, and so is its script, which asks again when something of the account moves.
 */
export async function expectSound({ page, faults }: ConsolePage, heading?: string, isRefused = false): Promise<void> {
  if (heading !== undefined) await expect.poll(() => page.textContent('h1')).toBe(heading);
  await expectAccessible(page);
  await expectNarrow(page);
  if (isRefused) forgetStatus(faults);
  expect(faults.join('\n'), page.url()).toBe('');
}

/** The page is no wider than its window, once its plots have the width of the window. */
export async function expectNarrow(page: Page): Promise<void> {
  const beyond = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
  await expect.poll(beyond, { message: `${page.url()} is wider than its window` }).toBeLessThanOrEqual(0);
}

/** What the page was answered with is no fault: the browser tells an answer that is no page as an error of the console. */
export function forgetStatus(faults: string[]): void {
  faults.splice(0, faults.length, ...faults.filter((fault) => !/status of 4\d\d/.test(fault)));
}

const narrow = { width: 360, colorScheme: 'dark' } as const;
/** For pages in states that the soak of all states does not look at, narrow and wide, light and dark. */
export const narrowAndWide = [narrow, { width: 1_440, colorScheme: 'light' }] as const;

/**
 * Each page of `paths` (below /console, with its heading) is sound, narrow and dark, or in all of `looks`. SCREENSHOTS: a directory that keeps
 * a picture of each.
 */
export async function expectSoundPages(
  browser: Browser,
  url: string,
  secret: SignedInBy,
  paths: readonly (readonly [string, string])[],
  looks: readonly (typeof narrowAndWide)[number][] = [narrow],
): Promise<void> {
  const opened = await openConsole(browser, url, secret);
  const { page, faults } = opened;
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    for (const [path, heading] of paths) {
      await page.goto(`${url}/console/${path}`);
      forgetStatus(faults);
      await expectSound(opened, heading);
      await keepPicture(page, `${path}-${width}`);
    }
  }
  await page.context().close();
}

/** A picture of the whole page in the folder SCREENSHOTS, where that is set. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const { SCREENSHOTS: folder } = process.env;
  if (folder === undefined) return;
  await page.screenshot({ path: `${folder}/${name.replaceAll(/[^a-z0-9]+/gi, '-')}.png`, fullPage: true });
}

const FOCUSED_WITHIN = 200;

/** Presses Tab until what `selector` finds has the focus: it can be reached by keyboard alone. Fails when it never has. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const wanted = page.locator(selector).first();
  await wanted.waitFor();
  for (let pressed = 0; pressed < FOCUSED_WITHIN; pressed += 1) {
    if (await wanted.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  expect.fail(`${FOCUSED_WITHIN} presses of Tab do not lead to ${selector} at ${page.url()}`);
}

/** Goes there by Tab and presses the key, Enter when absent. */
export async function press(page: Page, selector: string, key = 'Enter'): Promise<void> {
  await tabTo(page, selector);
  await page.keyboard.press(key);
}

/** Goes there by Tab and types the text in place of what stands there. */
export async function typeInto(page: Page, selector: string, text: string): Promise<void> {
  await tabTo(page, selector);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

/** The page that follows tells that the form was taken. A key, other than a click, does not wait for it. */
export async function expectDone(page: Page, text: string): Promise<void> {
  await expect.poll(() => page.locator('.done').allTextContents()).toEqual([expect.stringContaining(text)]);
}

/** A session of the key without a browser. */
export async function signedIn(url: string, secret: string): Promise<PageVisitor> {
  const visitor = new PageVisitor(url);
  await visitor.post('/auth/key', { key: secret, return_to: '/console' });
  return visitor;
}

/** The token of a new session of a new person who acts for the account. */
export async function personSession(
  core: Services,
  person: {
    readonly accountId: string;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
  },
): Promise<string> {
  return core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const personId = await createPerson(tx, person, nowMs);
    const device = { remoteAddress: '192.0.2.1', agent: 'Browser/1' };
    return openSession(tx, { kind: 'person', personId, accountId: person.accountId }, device, nowMs);
  });
}

/** Sends the form `act` of the page, as it stands there; one for a new thing stands behind the button of the page. */
export async function sendForm(
  visitor: PageVisitor,
  path: string,
  act: string,
  fields: Record<string, string> = {},
): Promise<Visit> {
  const isThere = ({ text }: Visit) => text.includes(`name="act" value="${act}"`);
  const page = await visitor.get(path);
  const { text } = isThere(page) ? page : await visitor.get(`${path}?new=1`);
  expect(text, path).toContain(`name="act" value="${act}"`);
  const [, formToken = ''] = /name="form_token" value="([^"]+)"/.exec(text) ?? [];
  const [, formKey = ''] = /name="form_key" value="([^"]+)"/.exec(text) ?? [];
  return visitor.post(path, { form_token: formToken, form_key: formKey, act, ...fields });
}
