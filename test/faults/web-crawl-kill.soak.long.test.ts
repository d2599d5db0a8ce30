// Two processes crawl, and are killed again and again. Each page of each crawl is kept once and charged once, and a crawl that is cancelled
// meanwhile gets no page more.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { modules } from '../../src/modules/index.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY, type TestAccount } from '../support/service.ts';
import { SITE_NETWORK, type Site, startSite } from '../support/site.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';
import { type Call, type Pair, startPair } from './pair.ts';

const KILLS = rounds(10);
const PAGES = 60;
const CREDIT_USD = 10;
const random = randomOf(seed);
const body = (title: string, links: readonly string[]) =>
  `<html><head><title>${title}</title></head><body>${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}<main><p>Page ${title} of the site.</p></main></body></html>`;

let site: Site;
let pair: Pair;
let account: TestAccount;
const processes: ServiceProcess[] = [];

beforeAll(async () => {
  const paths = Array.from({ length: PAGES }, (_, i) => `/page/${i}`);
  const slow = (path: string): [string, Parameters<typeof startSite>[0][string]] => [
    path,
    (_, response) =>
      void setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end(body(path, [])), 20),
  ];
  site = await startSite({ '/': body('home', paths), ...Object.fromEntries(paths.map(slow)) });
  pair = await startPair({ ALLOW_PRIVATE_SOURCES: SITE_NETWORK, WEB_HOST_INTERVAL_MS: '0' });
  account = await pair.account(CREDIT_USD);
  processes.push(...pair.services);
});
afterAll(async () => {
  await pair.stop();
  await site.stop();
});

const call: Call = (method, path, input) => {
  const [first, second] = pair.callers(account.secret);
  return (random(2) === 0 ? first : second)(method, path, input);
};

/** Until a process answers: killed ones come again at their address. */
async function data(method: string, path: string, input?: object) {
  for (;;) {
    const reply = await call(method, path, input).catch(() => null);
    if (reply?.status === 200) return reply.body.data;
    if (reply !== null && reply.status < 500 && reply.status !== 429) throw new Error(JSON.stringify(reply.body));
    await sleep(50);
  }
}

async function pagesOf(id: string) {
  const pages: { url: string; error: string | null }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await data(
      'GET',
      `/v1/web/crawl/get/${id}?limit=16${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    pages.push(...page.items);
    cursor = page.next_cursor;
  }
  return pages;
}

test(`each page is kept once and charged once (seed ${seed})`, async () => {
  const begin = async () =>
    (await data('POST', '/v1/web/crawl', { url: `${site.url}/`, limit: PAGES + 1, depth: 1 })).crawl_id;
  const [whole, cancelled] = [await begin(), await begin()];
  let kept: number | null = null;
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(200 + random(1_500));
    if (kill === Math.floor(KILLS / 2)) kept = (await data('POST', `/v1/web/crawl/cancel/${cancelled}`)).pages_read;
    const which = random(2);
    const process = processes[which] as ServiceProcess;
    await process.end('SIGKILL');
    processes[which] = await startProcess(process.place);
  }
  while ((await data('GET', `/v1/web/crawl/get/${whole}?limit=1`)).status === 'running') await sleep(200);
  const pages = await pagesOf(whole);
  expect(pages.filter(({ error }) => error !== null)).toEqual([]);
  expect(new Set(pages.map(({ url }) => url)).size).toBe(pages.length);
  expect(pages).toHaveLength(PAGES + 1);
  const ended = await data('GET', `/v1/web/crawl/get/${cancelled}?limit=1`);
  expect(['cancelled', 'completed']).toContain(ended.status);
  if (ended.status === 'cancelled') expect(ended.pages_read).toBe(kept);
  expect(await pagesOf(cancelled)).toHaveLength(ended.pages_read);
  const balance = (await data('GET', '/v1/account/balance')).balance_usd;
  expect(CREDIT_USD - balance).toBeCloseTo(0.0002 * (pages.length + ended.pages_read), 9);
  const { findings } = await examine({ db: pair.db, secrets: new Secrets(SECRETS_KEY), modules });
  expect(findings).toEqual([]);
}, 600_000);
