// Every page in every state that it can be in, in a real Chromium: accessible, no wider than a window of 320 px, within the policy, and with
// nothing asked of anywhere else. Each is looked at narrow and wide, one of them light and one dark, by turns. SCREENSHOTS: a folder that
// keeps a picture of each, in all four ways; STATES: a pattern of the names of those to look at; PART: those whose turn it is, as 3/8 for
// the fourth of each eight.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { type ConsolePage, expectNarrow, expectSound, keepPicture, openConsole } from '../support/console.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';
import { allStates } from './states/all.ts';
import { comeTo, type State } from './states/state.ts';

const TABS = 2;
const NARROWEST = 320;
const pattern = process.env.STATES ?? '';
const [part, parts] = (process.env.PART ?? '0/1').split('/').map(Number) as [number, number];
const looks = [360, 1_440].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);
/** Pages are laid out by the width and coloured by the scheme: two ways show both of each. */
const halves = [
  [looks[0], looks[3]],
  [looks[1], looks[2]],
] as (typeof looks)[];

interface Look extends State {
  readonly looks: typeof looks;
}

let service: TestService;
let chromium: TestBrowser;
let receiver: Receiver;
beforeAll(async () => {
  [service, chromium, receiver] = await Promise.all([
    startTestService({ env: LOCAL_TARGETS }),
    startBrowser(),
    Receiver.start(),
  ]);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close(), receiver?.stop()]);
});

test('every page is sound in every state', { timeout: 900_000 }, async () => {
  const states = await allStates({ service, receiver: receiver.url('/hook'), mark: 'A thing of ours' });
  expect(new Set(states.map(({ name }) => name)).size).toBe(states.length);
  const todo = states
    .map((state, i) => ({ ...state, looks: looksAt(i) }) as Look)
    .filter(({ name }, i) => new RegExp(pattern).test(name) && i % parts === part);
  expect(todo.length).toBeGreaterThan(0);
  const broken: string[] = [];
  // Each tab takes the next, so that none waits for another.
  const next = todo.values();
  await Promise.all(
    Array.from({ length: TABS }, async () => {
      const opened = await openConsole(chromium.browser, service.url, null);
      for (const state of next) await lookAt(opened, state).catch((error) => broken.push(`${state.name}: ${error}`));
    }),
  );
  expect(broken.join('\n')).toBe('');
});

function looksAt(i: number): typeof looks {
  if (process.env.SCREENSHOTS !== undefined) return looks;
  return halves[i % halves.length] as typeof looks;
}

async function lookAt(opened: ConsolePage, state: Look): Promise<void> {
  const { page, faults } = opened;
  await comeTo(opened, service.url, state);
  for (const { width, colorScheme } of state.looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await expectSound(opened, undefined, (state.status ?? 200) >= 400);
    await keepPicture(page, `${state.name}-${width}-${colorScheme}`);
  }
  await page.setViewportSize({ width: NARROWEST, height: 700 });
  await expectNarrow(page);
  expect(faults.join('\n')).toBe('');
}
