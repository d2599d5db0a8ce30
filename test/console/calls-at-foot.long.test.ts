// Nothing beyond the API: the calls at the foot of each page, made again over HTTP with a key of the same scopes, answer every figure of the
// page; and a key that may read one module sees that module and nothing else.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { moduleOf } from '../../src/core/callers/scopes.ts';
import { manifest } from '../support/capabilities.ts';
import { openConsole, signedIn } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';
import { pages } from '../support/console-pages.ts';
import { addressOf, type Filled, fillAccount } from '../support/filled-account.ts';
import { type Client, client, createTestAccount, type Reply } from '../support/service.ts';

let bench: ConsoleBench;
let filled: Filled;
beforeAll(async () => {
  bench = await ConsoleBench.start(9.5);
  filled = await fillAccount(bench.call, bench.receiver.url('/hook'), 'mark');
});
afterAll(() => bench?.stop());

/** Those of the operator are another account's. */
const own = pages.filter(({ needs }) => !needs.id.startsWith('operator.'));

/** The text of each cell, line and heading, and the instants, but for what is to be filled in or pressed. */
const TOLD = `(() => {
  const main = document.querySelector('main').cloneNode(true);
  for (const of of main.querySelectorAll('footer.calls, label, option, button, .hint, .period, nav, pre')) of.remove();
  const instants = [...main.querySelectorAll('time')].map((time) => time.dateTime);
  for (const time of main.querySelectorAll('time')) time.remove();
  for (const amount of main.querySelectorAll('.number-value[title]')) amount.textContent = amount.title;
  const lines = [...main.querySelectorAll('td, th, dd, dt, li, p, h1, h2, figcaption, summary')];
  const alone = lines.filter((line) => line.querySelector('p, li, dd') === null);
  return { instants, lines: alone.map((line) => line.textContent.replaceAll(/\\s+/g, ' ').trim()) };
})()`;

interface Told {
  readonly instants: readonly string[];
  readonly lines: readonly string[];
}

/** Figures that a page works out from its answers, and numbers that stand in its own words. */
const WORKED_OUT = [
  / and \d+ more$/, // recipients that are not named
  /^\d+ records?; a bar is \d+ \w+\./, // what the bars show
  /^Day \d$/, // of the columns of retention
  /^20\d\d-\d\d-\d\d$/, // the day of an instant
  /^at \$[\d.]+ a day$/, // what was spent in 7 days, by 7
  /^\d+ 100 %$/, // all of so many
  /^All \d+ (capabilities|keys)$/, // counted
  /^([<>] )?\d+\.\d %$/, // of all that was spent
  /^(mark-video: )?[\d.]+ kB\b/, // bytes by 1,024
  /^Budget \(daily\): \$0\.\d+ of \$7\.25, until \d{4}-\d\d-\d\d$/, // the day of an instant
  /^\d\d:\d\d UTC/, // the hour of an instant
  /^It had 0 runs in the last 24 hours\. The record of 0 runs in 30 days is deleted with it\.$/, // counted
  /^All \d+ messages are deleted\. The queue stays\.$/, // those of now and later
  /^Last 30 days$/,
  /^(Nothing has changed|What went out) in the last 30 days[.,]/,
  /^It made \d+ calls? in the last 24 hours/, // counted
  /^((ip|user|device|email)_[\w-]+…? ?)+$/, // keys by their beginnings
  / \$0\.0+\d( each)?\.$/, // a price
  /^\$0\.0+\d$/, // a price
  /^\d+ bytes$/, // of the content of a crawled page
  /^\d+ distinct IDs?, their properties /, // counted
  /^Messages per \d+ minutes$/,
  /^Attempts per hour, newest 100 deliveries/,
  /stay in the API for 30 days\.$/,
  /^Calls of the last 7 days\. /,
  /^(Trends|Funnel|Retention) of the last \d+ days/,
  /^mark-panel \(\d+\)$/, // series, counted
  /^\d+ panels? of it (is|are) gone\./, // counted
  /^VALIDATION_FAILED what it means · request req_\w+$/, // of the call that the page made
  /^\d+(\.\d)? %$/, // of the first step of a funnel, and of a cohort
  /^\d+\. [\w.-]+$/, // a step of a funnel
  /^\d+ (s|min|h)$/, // how old something is, in whole units
  /^(Spent|Spend|Failed|Calls) in (7|30) days(, USD)?$/,
  /^\d+\.\d % of all calls$/,
  /calls failed, \d+\.\d %\.$/,
  /(of the last 7|for 400) days\.?$/,
  / nothing (before|after) [\d :orafte-]+ UTC\.?$/, // the part of its period that a plot shows
  /^0\.000\d+$/, // the series of a plot beyond the first eight, added
  /^Each page costs \$/, // prices in forms
  /\bpx, [\d.]+\s[kM]B\b/, // a size in the unit that reads well
  /with 2xx\.$/,
  /^Calls that it meets run without asking from then on\. \d+ of/, // counted
  / answer(s|ed) 404\b/, // a status
  /\bthe S3 address\b/,
  /^\d+ (capabilit|key)\w+ with free calls only/,
  /^\w+day, \d+ \w+ \d{4}$/, // the day of what stands below
  /^10 attempts in about three days$/,
  /^Per cent of targetingKeys for each variant, 100 together;/,
  /(newest 2,000|first 2,500|Up to 2,500)/,
];
/** By the path of the page. */
const WORKED_OUT_INSTANTS: Readonly<Record<string, RegExp>> = {
  '/webhooks/{id}': /:00:00\.000Z$/, // the hours in which attempts are counted
  '/logs': /:[03]0:00\.000Z$/, // the ends of what the bars show
  '/metrics/dashboards/{id}': /:[03]0\.000Z$/, // steps of which there is nothing
};
/** How far back a page looks, in its own words. */
const SPAN = /\b24 hours\b/g;
const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const WORD = /[\w-]*\d[\w.,-]*/g;

/** What has a digit: numbers as such, however they are written; ids and names as they stand. */
function wordsOf(text: string): string[] {
  return (text.replaceAll(INSTANT, ' ').replaceAll(SPAN, ' ').match(WORD) ?? []).map((word) => {
    const plain = word.replaceAll(/(?<=\d),(?=\d{3})/g, '').replace(/[.,-]+$/, '');
    return /^-?[\d.]+(?:e-?\d+)?$/.test(plain) ? String(Number(plain)) : plain;
  });
}

/** `counted`: calls made since the page was, each of which is counted where the page tells calls. */
function notAnswered({ instants, lines }: Told, answers: string, counted = 0): string[] {
  const known = new Set(wordsOf(answers));
  const isKnown = (word: string) =>
    known.has(word) ||
    Array.from({ length: counted }, (_, i) => String(Number(word) + 1 + i)).some((n) => known.has(n));
  return [
    ...instants.filter((instant) => !answers.includes(instant)),
    ...lines.filter((line) => !wordsOf(line).every(isKnown) && !WORKED_OUT.some((pattern) => pattern.test(line))),
  ];
}

const COMMAND =
  /^curl -sS(?: -X (\w+))? '([^']*)' \\\n {2}-H "Authorization: Bearer \$QM_KEY"(?: \\\n {2}-H 'Content-Type: application\/json' \\\n {2}-d '(.*)')?$/;

/** Makes the calls of a foot again. */
function replay(commands: string, as: Client): Promise<Reply[]> {
  const replies = commands.split('\n\n').map((command) => {
    const [, method = 'GET', address = '', body] = COMMAND.exec(command) ?? [];
    expect(address, command).toContain(`${bench.service.url}/v1/`);
    return as(method, address.slice(bench.service.url.length), body);
  });
  return Promise.all(replies);
}

/** The same with a key that may see the page: all that they answered. */
async function answersOf(commands: string, as: Client): Promise<string> {
  const replies = await replay(commands, as);
  // A panel of the filled dashboard asks what is no PromQL, and says so on the page.
  const failed = replies.filter(({ status, text }) => status !== 200 && !text.includes('the query is no PromQL'));
  expect(failed.map(({ text }) => text)).toEqual([]);
  return replies.map(({ text }) => text).join('\n');
}

test('every figure of every page is in the answers to the calls at its foot', async () => {
  const { page } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret, {
    javaScriptEnabled: false,
  });
  const others = client(bench.service.url, (await createTestAccount(bench.service.core, 9.5)).secret);
  let [figures, strange] = [0, 0];
  for (const each of own) {
    const path = addressOf(each, filled);
    await page.goto(bench.service.url + path);
    const [commands = ''] = await page.locator('footer.calls pre').allTextContents();
    const seen = (await page.evaluate(TOLD)) as Told;
    const told = {
      ...seen,
      instants: seen.instants.filter((instant) => !WORKED_OUT_INSTANTS[each.path]?.test(instant)),
    };
    // A page of nothing but words makes no call.
    const answers = commands === '' ? '' : await answersOf(commands, bench.call);
    const counted = ['', '/usage', '/approvals/{id}'].includes(each.path) ? 2 * commands.split('\n\n').length : 0;
    expect.soft(notAnswered(told, answers, counted), path).toEqual([]);
    figures += told.lines.filter((line) => wordsOf(line).length > 0).length;
    if (['', '/wallet', '/usage'].includes(each.path))
      strange += notAnswered(told, (await replay(commands, others)).map(({ text }) => text).join()).length;
  }
  expect(figures).toBeGreaterThan(500);
  // The answers of another account have them not.
  expect(strange).toBeGreaterThan(100);
});

const modules = [...new Set(own.map(({ needs }) => moduleOf(needs.id)))];

/** What only pages of the module show. */
const marks: Readonly<Record<string, readonly string[]>> = {
  queue: ['mark-queue'],
  errors: ['mark-errors'],
  vector: ['mark-vector'],
  cron: ['mark-cron'],
  account: ['mark-account', 'mark-key'],
  video: ['mark-video'],
  ai: [],
};

/** The commands at the foot of a page that no browser has read. */
function commandsOf(text: string): string {
  const [, commands = ''] = /aria-label="The calls of this page">([^<]*)</.exec(text) ?? [];
  const signs: Readonly<Record<string, string>> = {
    '&quot;': '"',
    '&#39;': "'",
    '&lt;': '<',
    '&gt;': '>',
    '&amp;': '&',
  };
  return commands.replaceAll(/&(?:quot|#39|lt|gt|amp);/g, (sign) => signs[sign] ?? sign);
}

test.each(modules)('a key that may read %s sees that, and of the rest which scope is missing', async (module) => {
  const narrow = await bench.call('POST', '/v1/account/keys/create', { name: 'narrow', scopes: [`${module}:read`] });
  const secret = narrow.body.data.key_secret;
  const visitor = await signedIn(bench.service.url, secret);
  const foreign = Object.entries(marks).flatMap(([name, texts]) => (name === module ? [] : texts));
  const seen = new Set<string>();
  for (const { name, path, needs } of own) {
    const { status, text } = await visitor.get(addressOf({ path }, filled));
    const { scope, anyKey } = manifest.byId.get(needs.id) ?? expect.fail(needs.id);
    const mayRead = anyKey === true || (needs.id.startsWith(`${module}.`) && scope === 'read');
    // Any key sees the approvals of its own calls, of which it made none.
    const read = name === 'approval' && module !== 'account' ? 404 : 200;
    expect([name, status]).toEqual([name, mayRead ? read : 403]);
    if (!mayRead) expect(text).toContain(`${moduleOf(needs.id)}:${scope}`);
    // Events tell of all modules.
    if (name !== 'events') expect([name, ...foreign.filter((mark) => text.includes(mark))]).toEqual([name]);
    for (const mark of marks[module] ?? []) if (text.includes(mark)) seen.add(mark);
    const commands = commandsOf(text);
    if (commands !== '' && status !== 404) await answersOf(commands, client(bench.service.url, secret));
  }
  expect([...seen].sort()).toEqual([...(marks[module] ?? [])].sort());
});
