// HTML, scripts and URLs in every text of an event, on the page, in a real Chromium.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorsBench } from '../errors/harness.ts';
import { eventId, SentryBench } from '../errors/sentry-harness.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';

const payloads = [
  `<script>document.title='ran';alert('ran')</script>`,
  `<img src=/stolen onerror=alert('ran')>`,
  `javascript:alert('ran')`,
  `<a href="javascript:alert('ran')">click</a>`,
  `</textarea></pre></title></style></svg></details><script>alert('ran')</script>`,
  `<svg onload=alert('ran')><animate onbegin=alert('ran') attributeName=x></svg>`,
  `" onmouseover="alert('ran')" autofocus onfocus="alert('ran')" x="`,
  `' onclick='alert(1)' style='background:url(/stolen)`,
  `<iframe srcdoc="<script>alert('ran')</script>"></iframe><object data=/stolen></object><embed src=/stolen>`,
  `<style>@import '/stolen'; * { display: none }</style><link rel=stylesheet href=/stolen><base href=//evil.example/>`,
  `<meta http-equiv=refresh content="0;url=//evil.example"><form action=//evil.example><input name=x></form>`,
  `&lt;script&gt;&#x3c;img src=x&#62; &amp; ]]> <!-- --> {{7*7}} \${7*7}`,
];

let bench: ErrorsBench;
let chromium: TestBrowser;
beforeAll(async () => {
  [bench, chromium] = await Promise.all([ErrorsBench.start(), startBrowser()]);
});
afterAll(async () => {
  await chromium.close();
  await bench.service.stop();
});

/** Every text of an event that a caller chooses, each with a mark of its own behind the payload. */
function eventOf(payload: string, texts: Map<string, string>): Record<string, unknown> {
  const text = (name: string) => {
    const value = `${payload} [${name}]`;
    texts.set(name, value);
    return value;
  };
  const frame = (name: string, inApp: boolean) => ({
    func: text(`${name} func`),
    file: text(`${name} file`),
    line: 7,
    in_app: inApp,
    context_pre: [text(`${name} before`)],
    context_line: text(`${name} line`),
    context_post: [text(`${name} after`)],
    vars: { [text(`${name} var name`)]: text(`${name} var`) },
  });
  return {
    fingerprint: payload,
    title: text('title'),
    message: text('message'),
    level: 'fatal',
    environment: 'production',
    release: text('release'),
    user_id: text('user id'),
    tags: { [text('tag name')]: text('tag value') },
    exception: {
      type: text('type'),
      value: text('value'),
      stacktrace: [frame('app frame', true), frame('library frame', false)],
    },
    breadcrumbs: [
      {
        at: '2026-01-01T00:00:00Z',
        category: text('category'),
        message: text('crumb'),
        data: { [text('data name')]: text('data') },
      },
    ],
    request: { method: 'GET', url: text('url'), headers: { 'x-note': text('header') } },
    user: { segment: text('user') },
    context: { [text('context name')]: text('context') },
    extra: { list: [text('extra')] },
    sdk: { name: text('sdk') },
    runtime: { name: text('runtime') },
  };
}

interface Seen {
  readonly requests: string[];
  readonly troubles: string[];
}

/** Notes what the page asks for and does from now on. */
function watch(page: Page): Seen {
  const seen: Seen = { requests: [], troubles: [] };
  page.on('request', (request) => seen.requests.push(`${request.method()} ${request.url()}`));
  page.on('dialog', (dialog) => {
    seen.troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => seen.troubles.push(`error: ${error.message}`));
  page.on('console', (message) => seen.troubles.push(`console: ${message.text()}`));
  page.on('popup', () => seen.troubles.push('popup'));
  return seen;
}

/** What is in the document, read from outside: the page itself may run nothing. */
const SURVEY = `(() => {
  const all = [...document.querySelectorAll('main *')];
  return {
    elements: [...new Set(all.map((element) => element.localName))].sort(),
    attributes: [...new Set(all.flatMap((element) => element.getAttributeNames()))].sort(),
    links: [...document.querySelectorAll('main [href], main [src], main [action]')].map((element) => element.href ?? element.src ?? element.action),
    scripts: [...document.scripts].map(({ src }) => src),
    text: document.querySelector('main').textContent,
    title: document.title,
    base: document.baseURI,
  };
})()`;

interface Survey {
  readonly elements: string[];
  readonly attributes: string[];
  /** Addresses, whole. */
  readonly links: readonly string[];
  readonly scripts: readonly string[];
  readonly text: string;
  readonly title: string;
  readonly base: string;
}

// The elements and attributes that the page is made of.
const ELEMENTS =
  'a aside bdi button caption code dd details div dl dt figcaption figure footer form h1 h2 h3 input label li mark nav ol p pre rect section span summary svg table tbody td textarea th thead time title tr ul'.split(
    ' ',
  );
const ATTRIBUTES =
  'aria-current aria-describedby aria-hidden aria-label autocomplete class data-title datetime dir for height href id method name open preserveAspectRatio rel required role rows rx scope spellcheck tabindex title type value viewBox width x y'.split(
    ' ',
  );

test('what runs, and what is asked for, on a page that does not escape is seen', async () => {
  const page = await chromium.browser.newPage();
  const seen = watch(page);
  await page.setContent(`<base href="${bench.service.url}"><h1>${payloads[1]}</h1>${payloads[0]}`);
  await expect.poll(() => seen.troubles.filter((trouble) => trouble === 'dialog: ran')).toHaveLength(2);
  expect(seen.requests).toContain(`GET ${bench.service.url}/stolen`);
  const survey = (await page.evaluate(SURVEY.replaceAll('main', 'body'))) as Survey;
  expect(survey.elements).toEqual(expect.arrayContaining(['script', 'img']));
  await page.close();
});

test.each(payloads)('inert on the page: %s', { timeout: 60_000 }, async (payload) => {
  const texts = new Map<string, string>();
  const sent = eventOf(payload, texts);
  const { error_group_id: groupId, event_id } = await bench.capture(sent);
  for (const [what, field] of [
    ['assign', 'assigned_to'],
    ['comment', 'text'],
  ] as const) {
    const value = `${payload} [${what}]`;
    texts.set(what, value);
    await bench.change(what, groupId, { [field]: value });
  }
  await bench.change('ignore', groupId);
  const survey = await inertPage(groupId, bench);
  expect(survey.title).toContain(payload.slice(0, 40));
  const shown = await shownTexts(bench, event_id, texts);
  expect(shown.size).toBeGreaterThan(30);
  expect(missing(survey, shown)).toEqual([]);
});

test('inert on the page: all of it in an event of a Sentry SDK, with exceptions behind the exception', async () => {
  const sdk = await SentryBench.of(bench);
  const texts = new Map<string, string>();
  let count = 0;
  const text = (name: string) => {
    const value = `${payloads[count++ % payloads.length]} [${name}]`;
    texts.set(name, value);
    return value;
  };
  const exception = (name: string) => ({
    type: text(`${name} type`),
    value: text(`${name} value`),
    stacktrace: {
      frames: [
        {
          function: text(`${name} func`),
          filename: text(`${name} file`),
          lineno: 3,
          context_line: text(`${name} line`),
        },
      ],
    },
  });
  const id = eventId();
  const reply = await sdk.sendEvent({
    event_id: id,
    level: text('level'),
    transaction: text('transaction'),
    environment: text('environment'),
    exception: { values: [exception('cause'), exception('thrown')] },
    breadcrumbs: [
      { timestamp: text('at'), category: text('category'), level: text('crumb level'), message: text('crumb') },
    ],
    contexts: { [text('context name')]: { name: text('context') } },
    tags: { plain: text('tag') },
    sdk: { name: text('sdk') },
  });
  expect(reply.status, reply.text).toBe(200);
  const stored = await sdk.captured(id);
  expect(stored.exception.chain).toHaveLength(1);
  const survey = await inertPage(stored.error_group_id, sdk);
  const shown = await shownTexts(sdk, stored.event_id, texts);
  expect(shown.size).toBeGreaterThan(12);
  expect(missing(survey, shown)).toEqual([]);
});

/** Opens the page and all that opens on it, and holds that it did nothing and is made of nothing but its own elements. */
async function inertPage(groupId: string, { service, account }: ErrorsBench): Promise<Survey> {
  const url = `${service.url}/console/errors/${groupId}`;
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  const { requests, troubles } = watch(page);
  await page.goto(url);
  const closed = page.locator('main details:not([open]) > summary');
  while ((await closed.count()) > 0) await closed.first().click();
  await page.locator('h1').hover();
  await page.locator('.value').first().hover();
  for (let i = 0; i < 10; i += 1) await page.keyboard.press('Tab');
  const survey = (await page.evaluate(SURVEY)) as Survey;
  await page.context().close();
  expect([...troubles, ...faults]).toEqual([]);
  const own = [`GET ${url}`, `GET ${service.url}/console/live`, `GET ${service.url}/console/assets/`];
  expect(requests.filter((request) => !own.some((start) => request.startsWith(start)))).toEqual([]);
  expect(survey.elements.filter((name) => !ELEMENTS.includes(name))).toEqual([]);
  expect(survey.attributes.filter((name) => !ATTRIBUTES.includes(name))).toEqual([]);
  expect(survey.links.filter((link) => !link.startsWith(`${service.url}/console/errors`))).toEqual([]);
  expect(survey.scripts.filter((src) => !src.startsWith(`${service.url}/console/assets/`))).toEqual([]);
  expect(survey.base).toBe(url);
  return survey;
}

function missing(survey: Survey, texts: Map<string, string>): [string, string][] {
  return [...texts].filter(([, text]) => !survey.text.includes(text) && !survey.text.includes(inJson(text)));
}

/** The texts as they are stored: what scrubbing took out, the page cannot show. */
async function shownTexts(of: ErrorsBench, id: string, texts: Map<string, string>): Promise<Map<string, string>> {
  const stored = stringsOf(await of.get(id));
  return new Map([...texts].filter(([name, text]) => name === 'assign' || name === 'comment' || stored.has(text)));
}

function stringsOf(value: unknown): Set<string> {
  if (typeof value === 'string') return new Set([value]);
  if (value === null || typeof value !== 'object') return new Set();
  return new Set(Object.entries(value).flatMap(([name, item]) => [name, ...stringsOf(item)]));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
