// Pages that their scripts draw, by a real Chromium: what is read of ten applications, what it costs, and who is asked.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { type Site, startSite } from '../support/site.ts';
import { applications, DRAWN_FACT, FERRIES, LED } from './applications.ts';
import { ScreenshotBench } from './screenshot-bench.ts';

/** A machine that is slow is no page that takes too long. */
const patient = { call: { shot: { ...admission.call.shot, msMax: 100_000 } } };
const whole = `<!doctype html><html lang="en"><title>Whole</title><main><h1>Whole</h1><p>${'A page that the site sends whole. '.repeat(20)}</p>
<p id="later"></p></main><script>setTimeout(() => { later.textContent = 'Came later.'; later.className = 'came'; }, 1500)</script></html>`;

let site: Site;
let bench: ScreenshotBench;
let served = applications[0] as (typeof applications)[number];

beforeAll(async () => {
  site = await startSite({
    '/robots.txt': (_, response) => void response.writeHead(200).end('User-agent: *\nDisallow: /secret'),
    '/': (_, response) => void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(served.html),
    '/assets/app.js': (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/javascript' }).end(served.script),
    '/api/ferries': (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(FERRIES),
    '/led': LED,
    '/whole': whole,
    '/data.json': (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
    '/to-secret': '<title>One moment</title><body><script>location.href = "/secret"</script></body>',
    '/secret': '<title>Secret</title>',
    '/links': `<div id="root"></div><script>root.innerHTML = '<a href="/whole">Whole</a> <a href="/data.json">Data</a>'</script>`,
  });
  bench = await ScreenshotBench.start({ admission: patient, env: { WEB_HOST_INTERVAL_MS: '0' } });
});
afterAll(async () => {
  await bench.service.stop();
  await site.stop();
});

async function read(path: string, input: object = {}, by = bench) {
  const reply = await by.call('POST', '/v1/web/fetch', { url: `${site.url}${path}`, ...input });
  expect(reply.status, reply.text.slice(0, 500)).toBe(200);
  return reply.body;
}

describe('web.fetch', () => {
  test.each(applications)('draws $name', async (application) => {
    served = application;
    const { data, metadata } = await read('/');
    expect(data).toMatchObject({ status: 200, rendered: true, render_error: null });
    expect(data.content).toContain(DRAWN_FACT);
    expect(data.content).not.toContain('JavaScript');
    expect(metadata.cost_usd).toBe(0.002);
  });

  test('reads a page that the site sends whole, and draws it only when asked to', async () => {
    const auto = await read('/whole');
    expect([auto.data.rendered, auto.metadata.cost_usd]).toEqual([false, 0.0002]);
    expect(auto.data.content).not.toContain('Came later.');
    const always = await read('/whole', { render: 'always', wait_for: '#later.came' });
    expect([always.data.rendered, always.metadata.cost_usd]).toEqual([true, 0.002]);
    expect(always.data.content).toContain('Came later.');
  });

  test('never draws when told so, and asks for nothing beside the page', async () => {
    served = applications[0] as (typeof applications)[number];
    const before = site.asked.length;
    const { data, metadata } = await read('/', { render: 'never' });
    expect([data.rendered, data.content, metadata.cost_usd]).toEqual([false, '', 0.0002]);
    expect(site.asked.slice(before)).toEqual(['/']);
  });

  test('asks for a page once, also when it is drawn after it was read', async () => {
    const before = site.asked.length;
    await read('/');
    expect(site.asked.slice(before).filter((path) => path === '/')).toEqual(['/']);
  });

  test('an element that is waited for makes auto draw; one that never comes is told', { timeout: 60_000 }, async () => {
    const { data } = await read('/whole', { wait_for: 'p.came' });
    expect([data.rendered, data.render_error]).toEqual([true, null]);
    const late = await read('/whole', { wait_for: 'p.never' });
    expect(late.data).toMatchObject({ rendered: true, render_error: 'wait_for_timeout' });
    expect(late.data.content).toContain('Came later.');
    expect(late.metadata.warnings).toEqual([expect.stringContaining('no element of wait_for came')]);
  });

  test('what is no HTML is read as it is', async () => {
    const { data, metadata } = await read('/data.json', { render: 'always' });
    expect([data.content, data.rendered, metadata.cost_usd]).toEqual(['{"a":1}', false, 0.0002]);
  });

  test('robots.txt holds for a page that a script leads to', async () => {
    const { data, metadata } = await read('/to-secret');
    expect(data).toMatchObject({ rendered: false, render_error: 'not_shown' });
    expect(metadata.cost_usd).toBe(0.0002);
    expect(site.asked).not.toContain('/secret');
  });
});

test('a crawl draws its pages, at their price, and follows the links that scripts drew', {
  timeout: 60_000,
}, async () => {
  const begun = await bench.call('POST', '/v1/web/crawl', { url: `${site.url}/links`, limit: 3, depth: 1 });
  const get = async () => (await bench.call('GET', `/v1/web/crawl/get/${begun.body.data.crawl_id}`)).body.data;
  await expect.poll(async () => (await get()).status, { timeout: 50_000 }).toBe('completed');
  const { items, cost_usd } = await get();
  const shown = items.map(({ url, rendered }: { url: string; rendered: boolean }) => [
    url.replace(site.url, ''),
    rendered,
  ]);
  expect(shown).toEqual([
    ['/links', true],
    ['/whole', false],
    ['/data.json', false],
  ]);
  expect(cost_usd).toBe(0.0024);
});

test('Firecrawl draws too, once for all formats', async () => {
  served = applications[0] as (typeof applications)[number];
  const before = await bench.balance();
  const wish = { url: `${site.url}/`, formats: ['markdown', 'html', 'links'] };
  const { body } = await bench.call('POST', '/v1/web/firecrawl/v2/scrape', wish);
  expect(body.data.markdown).toContain(DRAWN_FACT);
  expect(body.data.html).toContain(`${DRAWN_FACT.slice(0, 20)}`);
  expect(before - (await bench.balance())).toBeCloseTo(0.002, 9);
});

test('credit for a drawn page is held before it is asked for', async () => {
  const poor = await ScreenshotBench.start({ admission: patient, env: { WEB_HOST_INTERVAL_MS: '0' }, credit: 0.0012 });
  const before = site.asked.length;
  const url = `${site.url}/`;
  const auto = await poor.call('POST', '/v1/web/fetch', { url });
  expect([auto.status, auto.body.error.code]).toEqual([402, 'INSUFFICIENT_CREDIT']);
  expect(site.asked.length).toBe(before);
  expect((await read('/', { render: 'never' }, poor)).metadata.cost_usd).toBe(0.0002);
  await poor.service.stop();
});

test('a crawl whose credit does not last for a drawn page ends before a browser draws it', async () => {
  const poor = await ScreenshotBench.start({ admission: patient, env: { WEB_HOST_INTERVAL_MS: '0' }, credit: 0.0012 });
  const before = site.asked.length;
  const begun = await poor.call('POST', '/v1/web/crawl', { url: `${site.url}/links`, limit: 1 });
  const get = async () => (await poor.call('GET', `/v1/web/crawl/get/${begun.body.data.crawl_id}`)).body.data;
  await expect.poll(get, { timeout: 10_000 }).toMatchObject({
    status: 'failed',
    reason: 'insufficient_credit',
    cost_usd: 0,
  });
  expect(site.asked.slice(before).filter((path) => path !== '/robots.txt')).toEqual(['/links']);
  await poor.service.stop();
});

test('without a browser auto says so, and always is not available', async () => {
  served = applications[0] as (typeof applications)[number];
  const without = await ScreenshotBench.start({ env: { CHROMIUM_PATH: '', WEB_HOST_INTERVAL_MS: '0' } });
  const { data, metadata } = await read('/', {}, without);
  expect(data).toMatchObject({ rendered: false, render_error: 'no_browser' });
  expect(metadata).toMatchObject({ cost_usd: 0.0002, warnings: [expect.stringContaining('CHROMIUM_PATH')] });
  expect((await read('/whole', {}, without)).data.render_error).toBeNull();
  const before = site.asked.length;
  for (const path of ['fetch', 'crawl']) {
    const { status, body } = await without.call('POST', `/v1/web/${path}`, { url: `${site.url}/`, render: 'always' });
    expect([status, body.error.code, body.error.code_detail]).toEqual([400, 'VENDOR_NOT_AVAILABLE', 'no_browser']);
  }
  expect(site.asked.length).toBe(before);
  await without.service.stop();
});

test.each([
  [{ render: 'maybe' }, 'VALIDATION_FAILED', 'render'],
  [{ wait_for: 'p:has(a)' }, 'VALIDATION_FAILED', 'wait_for'],
  [{ wait_for: 'x'.repeat(201) }, 'VALIDATION_FAILED', 'wait_for'],
  [{ wait_for: 'p', render: 'never' }, 'INVALID_REQUEST', 'wait_for'],
])('%j is refused before anything is asked', async (input, code, param) => {
  const before = site.asked.length;
  for (const path of ['fetch', 'crawl']) {
    const { body } = await bench.call('POST', `/v1/web/${path}`, { url: `${site.url}/`, ...input });
    expect([body.error.code, body.error.param]).toEqual([code, param]);
  }
  expect(site.asked.length).toBe(before);
});
