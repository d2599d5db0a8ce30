// What a state of a page is, and what states are made of.
import type { Page, Response } from 'playwright-core';
import { expect } from 'vitest';
import { type ConsolePage, forgetStatus, signedIn } from '../../support/console.ts';
import type { fillAccount } from '../../support/filled-account.ts';
import type { TestAccount, TestService } from '../../support/service.ts';

/** A page in one of its states, as a browser comes to it. */
export interface State {
  /** Of its picture. */
  readonly name: string;
  readonly path: string;
  /** The token of the session that looks; null: nobody is signed in. */
  readonly by: string | null;
  /** What it is answered with; 200 when absent. */
  readonly status?: number;
  /** What the page says because of the state. */
  readonly says?: string;
  /** A form of the page that is sent: the state is its answer. */
  readonly form?: Form;
}

export interface Form {
  /** CSS: something that stands in this form alone. */
  readonly has: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface Scene {
  readonly service: TestService;
  /** An address that takes deliveries. */
  readonly receiver: string;
  /** Stands in every text that somebody chose. */
  readonly mark: string;
  /** Of what has no text of somebody's; usual ones when absent. */
  readonly names?: Parameters<typeof fillAccount>[3];
}

/** A form of the console by its act. */
export function act(name: string, fields: Form['fields'] = {}): Form {
  return { has: `input[name=act][value=${name}]`, fields };
}

/** The token of a session by the key. */
export async function sessionOf({ url }: TestService, { secret }: Pick<TestAccount, 'secret'>): Promise<string> {
  return (await signedIn(url, secret)).cookies.get('qm_session') ?? expect.fail('nobody is signed in');
}

/** Opens the page in its state. */
export async function comeTo(
  { page, faults }: ConsolePage,
  url: string,
  { path, by, form, ...is }: State,
): Promise<void> {
  // The last page asks again by itself; without its cookie it would go to the sign-in while the next one opens.
  await page.goto('about:blank');
  faults.length = 0;
  await page.context().clearCookies();
  if (by !== null) await page.context().addCookies([{ name: 'qm_session', value: by, url }]);
  const shown = await page.goto(url + path);
  const answer = form === undefined ? shown : await send(page, form);
  forgetStatus(faults);
  expect([is.name, answer?.status()]).toEqual([is.name, is.status ?? 200]);
  expect(await page.textContent('body'), is.name).toContain(is.says ?? '');
  expect(await page.locator('h1').count(), is.name).toBe(1);
}

/** What is used of the DOM's: types of the browser are none of the tests'. */
interface FormElement {
  readonly elements: { namedItem(name: string): { value: string } | null };
  submit(): void;
}

/** As a browser does that checks nothing by itself, and without the page's script. */
async function send(page: Page, { has, fields }: Form): Promise<Response | null> {
  const form = page.locator('form', { has: page.locator(has) }).last();
  const [answer] = await Promise.all([
    page.waitForNavigation(),
    form.evaluate((element, values) => {
      const sent = element as unknown as FormElement;
      for (const [name, value] of Object.entries(values)) {
        const field = sent.elements.namedItem(name);
        if (field === null) throw new Error(`the form has no field ${name}`);
        field.value = value;
      }
      sent.submit();
    }, fields),
  ]);
  return answer;
}
