// Screenshots by a real Chromium: what is shown, what it costs, and who is asked.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { type Site, startSite } from '../support/site.ts';
import { ScreenshotBench } from './screenshot-bench.ts';

/** For what a page does after it has loaded, on a busy machine too. */
const wait_seconds = 3;
/** A machine that is slow is no page that takes too long. */
const patient = { call: { shot: { ...admission.call.shot, msMax: 100_000 } } };
const colors = `<style>html { background: #f00 } @media (prefers-color-scheme: dark) { html { background: #00f } }</style>`;

let site: Site;
let other: Site;
let bench: ScreenshotBench;

beforeAll(async () => {
  other = await startSite({ '/moved': `<title>Moved</title>${colors}` }, '127.77.0.2');
  site = await startSite({
    '/robots.txt': (_, response) => void response.writeHead(200).end('User-agent: *\nDisallow: /secret'),
    '/colors': `<!doctype html><title>Colors</title>${colors}<div style="height: 3000px"></div>`,
    '/script': `<title>Before</title><script>
      fetch('/color').then((r) => r.text()).then((color) => { document.body.style.background = color; document.title = 'After'; });
      fetch('/posted', { method: 'POST', body: 'x' }).catch(() => undefined);
    </script><body></body>`,
    '/color': (_, response) => void response.writeHead(200, { 'set-cookie': 'a=b' }).end('#0f0'),
    '/to-other': (_, response) => void response.writeHead(302, { location: `${other.url}/moved` }).end(),
    '/leads': '<meta http-equiv="refresh" content="0; url=/colors">',
    '/leads-to-secret': '<title>Stays</title><script>location.href = "/secret"</script>',
    '/secret': '<title>Secret</title>',
    '/download': (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/zip' }).end(Buffer.from('PK\x03\x04')),
  });
  bench = await ScreenshotBench.start({ admission: patient });
});
afterAll(async () => {
  await bench.service.stop();
  await Promise.all([site.stop(), other.stop()]);
});

/** Of the pixel in the middle. */
async function colorOf(picture: Buffer): Promise<{ width: number; height: number; format: string; rgb: number[] }> {
  const { width, height, format } = await sharp(picture).metadata();
  const middle = { left: width >> 1, top: height >> 1, width: 1, height: 1 };
  const pixel = await sharp(picture).extract(middle).removeAlpha().raw().toBuffer();
  return { width, height, format, rgb: [...pixel] };
}

describe('web.screenshot', () => {
  test('shows a page in the size, format and colors that were asked for, for 0.002 USD', async () => {
    const before = await bench.balance();
    const { data, picture } = await bench.take(`${site.url}/colors`, { width: 400, height: 300 });
    expect(data).toMatchObject({
      page_url: `${site.url}/colors`,
      status: 200,
      title: 'Colors',
      width: 400,
      height: 300,
    });
    expect(await colorOf(picture)).toEqual({ width: 400, height: 300, format: 'png', rgb: [255, 0, 0] });
    expect(before - (await bench.balance())).toBeCloseTo(0.002, 9);
  });

  test('shows the page that a redirect leads to, as dark as it is asked for', async () => {
    const wish = { width: 300, height: 200, full_page: true, format: 'webp', quality: 90, dark: true };
    const dark = await bench.take(`${site.url}/to-other`, wish);
    expect(dark.data).toMatchObject({ page_url: `${other.url}/moved`, title: 'Moved', content_type: 'image/webp' });
    const { rgb, ...rest } = await colorOf(dark.picture);
    expect(rest).toEqual({ width: 300, height: 200, format: 'webp' });
    expect(rgb[2]).toBeGreaterThan(240);
  });

  test('shows the page that another one leads to, to its foot', async () => {
    const wish = { width: 200, height: 200, full_page: true, format: 'jpeg', wait_seconds };
    const long = await bench.take(`${site.url}/leads`, wish);
    expect(long.data).toMatchObject({ title: 'Colors', page_url: `${site.url}/colors`, width: 200 });
    expect((await colorOf(long.picture)).height).toBe(long.data.height);
    expect(long.data.height).toBeGreaterThan(2_999);
  });

  test('runs scripts, which ask by GET alone', async () => {
    const { data, picture } = await bench.take(`${site.url}/script`, { width: 200, height: 200, wait_seconds });
    expect(data.title).toBe('After');
    expect((await colorOf(picture)).rgb).toEqual([0, 255, 0]);
    expect(site.asked).not.toContain('/posted');
  });

  test('obeys robots.txt, of a page that a script leads to too', async () => {
    expect(await bench.fails(`${site.url}/secret`)).toEqual([403, 'ROBOTS_DISALLOWED', undefined]);
    const led = await bench.fails(`${site.url}/leads-to-secret`, { wait_ms: 1_000 * wait_seconds });
    expect(led).toEqual([400, 'VALIDATION_FAILED', 'not_shown']);
    expect(site.asked).not.toContain('/secret');
  });

  test('what is no page, or not allowed, costs nothing', async () => {
    const before = await bench.balance();
    expect(await bench.fails(`${site.url}/download`)).toEqual([400, 'VALIDATION_FAILED', 'unsupported_type']);
    for (const wait of [{ wait_seconds: 5.001 }, { wait_ms: 5_001 }])
      expect(await bench.fails(`${site.url}/colors`, wait)).toEqual([400, 'VALIDATION_FAILED', 'maximum']);
    expect(await bench.fails('http://127.0.0.1:1/')).toEqual([400, 'TARGET_REJECTED', undefined]);
    expect(await bench.fails('file:///etc/passwd')).toEqual([400, 'TARGET_REJECTED', undefined]);
    expect(await bench.balance()).toBe(before);
  });

  test('without a browser it is not available, and nothing is asked', async () => {
    const without = await ScreenshotBench.start({ env: { CHROMIUM_PATH: '' } });
    const before = site.asked.length;
    expect(await without.fails(`${site.url}/colors`)).toEqual([400, 'VENDOR_NOT_AVAILABLE', 'no_browser']);
    expect(site.asked.length).toBe(before);
    await without.service.stop();
  });
});
