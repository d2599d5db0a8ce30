// The two questions that end something for good, in a real browser without scripts: what merging accounts means, and what leaving one does.
// Each page is accessible, and no wider than its window, narrow and wide, light and dark. SCREENSHOTS: a folder that keeps a picture of each.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createPerson } from '../../src/people/persons.ts';
import { expectAccessible } from '../support/axe.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectNarrow, keepPicture } from '../support/console.ts';
import { walker } from '../support/identity/browser-walk.ts';
import { IdentityBench } from './harness.ts';

const looks = [390, 1_440].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

let bench: IdentityBench;
let chromium: TestBrowser;
beforeAll(async () => {
  [bench, chromium] = await Promise.all([IdentityBench.open(), startBrowser()]);
});
afterAll(() => Promise.all([bench?.stop(), chromium?.close()]));
beforeEach(() => bench.newPeople());

/** Signed in at `corp`, on the page of the account. */
async function signedIn(): Promise<{ readonly page: Page; readonly accountId: string }> {
  const page = await (await chromium.browser.newContext()).newPage();
  await page.goto(`${bench.it.url}/auth`);
  await page.click('text=Continue with corp');
  await page.waitForURL(`${bench.it.url}/auth/account`);
  const accountId = /acct_\w+/.exec((await page.textContent('main')) ?? '')?.[0] ?? '';
  return { page, accountId };
}

async function expectPage(page: Page, heading: string, picture: string): Promise<void> {
  await expect.poll(() => page.textContent('h1')).toBe(heading);
  expect(await page.locator('script').count()).toBe(0);
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
    await expectNarrow(page);
    await keepPicture(page, `${picture}-${width}-${colorScheme}`);
  }
}

function addPerson(accountId: string, email: string): Promise<string> {
  const person = { accountId, email, name: null, role: 'owner' } as const;
  return bench.it.core.db.transaction((tx) => createPerson(tx, person, Date.now()));
}

test('the question of a merger is accessible: with keys and people, asked again, and over', async () => {
  const other = walker();
  await bench.signIn(other, 'other');
  const { page, accountId } = await signedIn();
  await page.click('text=Link other');
  await expectPage(page, 'Merge your accounts?', 'merge-of-nothing');
  await bench.addKey(accountId, 'of a colleague');
  await bench.addKey(await bench.accountOf(other));
  await addPerson(accountId, 'a.colleague.with.a.long.name@department.example.org');
  await page.click('text=Merge the accounts');
  await expectPage(page, 'Merge your accounts?', 'merge-asked-again');
  expect(await page.innerText('main')).toContain('of a colleague');
  await bench.it.advance(601);
  await page.click('text=Link, and keep both accounts');
  await expectPage(page, 'This question is closed', 'merge-over');
  await page.context().close();
});

test('the page of leaving is accessible: refused to the last owner, with keys, and without', async () => {
  const { page, accountId } = await signedIn();
  await page.click('text=Leave the account…');
  await expectPage(page, 'Leave the account', 'leave-without-keys');
  for (const name of [
    'build server',
    null,
    'a key with a name that is rather long, and names the machine it is used on',
  ])
    await bench.addKey(accountId, name);
  await page.reload();
  await page.check('text=build server');
  await page.click('button.main');
  await page.waitForSelector('[role=alert]');
  await expectPage(page, 'Leave the account', 'leave-refused');
  expect(await page.locator('input:checked').count()).toBe(1);
  await addPerson(accountId, 'second@example.org');
  await page.click('button.main');
  await page.waitForURL(`${bench.it.url}/auth`);
  await page.goto(`${bench.it.url}/auth/account`);
  await expect.poll(() => page.textContent('h1')).toBe('Sign in');
  await page.context().close();
});
