// Hostile pages in a real Chromium: nothing reaches a socket but what the service asks for, and every call ends in time with no process left.
import { connect } from 'node:net';
import sharp from 'sharp';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Site } from '../support/site.ts';
import { allowedMs } from '../support/slowness.ts';
import { BESIDE_MS, BOUND_MS, BrowserTrap, browsers, expectNothingLeft } from './browser-trap.ts';
import { endlessPages, escapingPage } from './hostile-browser-pages.ts';
import type { ScreenshotBench } from './screenshot-bench.ts';

const TEST_MS = 90_000;

let trap: BrowserTrap;
let site: Site;
let bench: ScreenshotBench;

beforeAll(async () => {
  trap = await BrowserTrap.start();
  ({ site, bench } = trap);
}, TEST_MS);
afterAll(() => trap.stop());
afterEach(expectNothingLeft);

describe('a way out', () => {
  test('none of them reaches a socket', { timeout: TEST_MS }, async () => {
    trap.pages.set('/page?out', escapingPage(`127.0.0.1:${trap.port}`, trap.udpPort, trap.file));
    const { data, picture } = await bench.take(`${site.url}/page?out`, { wait_seconds: 5 });
    expect(data).toMatchObject({ title: 'Escaping', status: 200, page_url: `${site.url}/page?out` });
    // It tried, and what its own site has was asked of it.
    expect(site.asked.filter((path) => path.startsWith('/tried'))).toHaveLength(1);
    expect(trap.reached).toEqual([]);
    const middle = await sharp(picture)
      .extract({ left: 640, top: 700, width: 1, height: 1 })
      .removeAlpha()
      .raw()
      .toBuffer();
    expect([...middle]).not.toEqual([255, 0, 0]);
    // The trap works.
    connect(trap.port, '127.0.0.1').on('error', () => undefined);
    await expect.poll(() => trap.reached).toEqual(['127.0.0.1']);
    trap.clear();
  });

  test.each(['/refresh', '/location', '/download'])('%s leads nowhere', { timeout: TEST_MS }, async (path) => {
    expect(await bench.fails(`${site.url}${path}`, { wait_seconds: 0.5 })).toEqual([
      400,
      'VALIDATION_FAILED',
      'not_shown',
    ]);
    expect(trap.reached).toEqual([]);
  });

  test('a redirect of the page itself is refused before a browser begins', async () => {
    expect(await bench.fails(`${site.url}/trap-at-once`)).toEqual([400, 'TARGET_REJECTED', undefined]);
    expect(trap.reached).toEqual([]);
  });
});

describe('a page without end', () => {
  test.each(endlessPages)('%s ends in time, and leaves nothing', { timeout: TEST_MS }, async (name, html) => {
    trap.pages.set('endless', html);
    const begunMs = performance.now();
    const reply = await bench.call('POST', '/v1/web/screenshot', {
      url: `${site.url}/endless?${encodeURIComponent(name)}`,
      full_page: true,
    });
    expect(performance.now() - begunMs).toBeLessThan(BOUND_MS + allowedMs(BESIDE_MS));
    const { ok, error } = reply.body;
    const outcome = ok ? 'shown' : `${error.code} ${error.code_detail}`;
    expect(outcome).toMatch(/^(shown|VALIDATION_FAILED (too_complex|not_shown))$/);
    // Others are served meanwhile and afterwards.
    expect((await bench.call('GET', '/v1/account/balance')).status).toBe(200);
  });

  test('a client that leaves ends the browser', { timeout: TEST_MS }, async () => {
    trap.pages.set('endless', '<script>for (;;);</script>');
    const left = new AbortController();
    const asking = request(`${bench.service.url}/v1/web/screenshot`, {
      method: 'POST',
      signal: left.signal,
      body: JSON.stringify({ url: `${site.url}/endless?left` }),
      headers: { ...bench.headers, 'content-type': 'application/json' },
    });
    await expect.poll(() => browsers().length).toBeGreaterThan(0);
    left.abort();
    await expect(asking).rejects.toThrow();
    await expect.poll(browsers).toEqual([]);
  });
});
