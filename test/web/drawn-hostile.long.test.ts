// Hostile pages that are drawn for their text: what screenshots are attacked with, and pages that attack whoever reads what was drawn. Nothing
// reaches a socket but what the service asks for; every call ends in time, bounded in bytes, and with no process left.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { allowedMs } from '../support/slowness.ts';
import { BESIDE_MS, BOUND_MS, BrowserTrap, expectNothingLeft } from './browser-trap.ts';
import { endlessPages, escapingPage } from './hostile-browser-pages.ts';

const TEST_MS = 90_000;
let trap: BrowserTrap;

beforeAll(async () => {
  trap = await BrowserTrap.start();
}, TEST_MS);
afterAll(() => trap.stop());
afterEach(expectNothingLeft);

async function draw(path: string, input: object = {}) {
  const url = `${trap.site.url}${path}`;
  const begunMs = performance.now();
  const { body } = await trap.bench.call('POST', '/v1/web/fetch', { url, render: 'always', format: 'text', ...input });
  expect(performance.now() - begunMs).toBeLessThan(BOUND_MS + allowedMs(BESIDE_MS));
  return body;
}

const outcomeOf = ({ ok, error }: { ok: boolean; error: { code: string; code_detail: string } }) =>
  ok ? 'drawn' : `${error.code} ${error.code_detail}`;

test('no way out reaches a socket, or a file', { timeout: TEST_MS }, async () => {
  trap.pages.set('/page?out', escapingPage(`127.0.0.1:${trap.port}`, trap.udpPort, trap.file));
  const { data } = await draw('/page?out');
  expect(data).toMatchObject({ title: 'Escaping', rendered: true, url: `${trap.site.url}/page?out` });
  expect(data.content).not.toContain('the file of this machine');
  expect(trap.site.asked.filter((path) => path.startsWith('/tried'))).toHaveLength(1);
  expect(trap.reached).toEqual([]);
});

test.each(['/refresh', '/location', '/download'])('%s leads nowhere', { timeout: TEST_MS }, async (path) => {
  expect(outcomeOf(await draw(path))).toBe('VALIDATION_FAILED not_shown');
  expect(trap.reached).toEqual([]);
});

test('a redirect of the page itself is refused before a browser begins', async () => {
  expect(outcomeOf(await draw('/trap-at-once'))).toBe('TARGET_REJECTED undefined');
  expect(trap.reached).toEqual([]);
});

test.each(endlessPages)('%s ends in time, and leaves nothing', { timeout: TEST_MS }, async (_, html) => {
  trap.pages.set('endless', html);
  const body = await draw('/endless');
  expect(outcomeOf(body)).toMatch(/^(drawn|VALIDATION_FAILED (too_complex|not_shown))$/);
  // Others are served meanwhile and afterwards.
  expect((await trap.bench.call('GET', '/v1/account/balance')).status).toBe(200);
});

test('auto answers a page without end as it was sent, at the price of a page', { timeout: TEST_MS }, async () => {
  trap.pages.set('endless', '<p>Sent.</p><script>for (;;);</script>');
  const { data, metadata } = await draw('/endless', { render: 'auto' });
  expect(data).toMatchObject({ content: 'Sent.', rendered: false, render_error: 'too_complex' });
  expect(metadata.cost_usd).toBe(0.0002);
});

describe('what was drawn', () => {
  const MIB = 1_048_576;
  const texts = (body: Awaited<ReturnType<typeof draw>>) => [outcomeOf(body), body.data?.content];

  test.each([
    ['a million elements', `document.body.innerHTML = '<i>x</i>'.repeat(1e6)`, /^VALIDATION_FAILED too_complex$/],
    ['a million empty elements', `document.body.innerHTML = '<i></i>'.repeat(1e6)`, /^VALIDATION_FAILED too_complex$/],
    [
      'elements in elements',
      `let at = document.body; for (let i = 0; i < 1e5; i++) at = at.appendChild(document.createElement('b'))`,
      /./,
    ],
    ['a long text', `document.body.textContent = 'word '.repeat(4e7)`, /./],
    ['characters of three bytes', `document.body.textContent = '日本 '.repeat(1e7)`, /./],
    ['lone surrogates', `document.body.textContent = '\\ud800 '.repeat(1e6)`, /./],
    [
      'shadow roots in shadow roots',
      `let at = document.body; for (let i = 0; i < 5000; i++) { const b = document.createElement('div'); at.append(b); at = b.attachShadow({ mode: 'open' }); } at.textContent = 'deep'`,
      /./,
    ],
    [
      'attributes',
      `for (let i = 0; i < 1e5; i++) document.body.setAttribute('a' + i, 'x'.repeat(100))`,
      /^(drawn|VALIDATION_FAILED too_complex)$/,
    ],
  ])('%s is bounded', { timeout: TEST_MS }, async (_, script, outcome) => {
    trap.pages.set('endless', `<body><script>${script}</script></body>`);
    const [how, content] = texts(await draw('/endless', { bytes_max: MIB, main_content: false }));
    expect(how).toMatch(outcome);
    expect(how).toMatch(/^(drawn|VALIDATION_FAILED (too_complex|not_shown))$/);
    if (how === 'drawn') expect(Buffer.byteLength(content)).toBeLessThanOrEqual(MIB);
  });

  test.each([
    [
      'replaces what reads it',
      `for (const of of [Element, Document, Node, ShadowRoot, Array, String]) for (const name of Object.getOwnPropertyNames(of.prototype)) try { of.prototype[name] = () => { for (;;); } } catch {}`,
    ],
    [
      'clobbers the document',
      `document.body.insertAdjacentHTML('beforeend', '<form><input name=shadowRoot><input name=outerHTML><input name=cloneNode></form>')`,
    ],
    [
      'asks before it is left, and prints',
      `addEventListener('beforeunload', (e) => { e.preventDefault(); return e.returnValue = 'stay'; }); print(); alert('a'); confirm('b'); prompt('c')`,
    ],
    [
      'hangs on what never comes',
      `document.body.append(Object.assign(new Image(), { src: '/never' })); fetch('/never')`,
    ],
  ])('a page that %s is read', { timeout: TEST_MS }, async (_, script) => {
    trap.pages.set('endless', `<body><p>Words to read.</p><script>${script}</script></body>`);
    const body = await draw('/endless', { wait_for: 'p', main_content: false });
    expect(texts(body)).toEqual(['drawn', expect.stringContaining('Words to read.')]);
  });

  test('HTML beyond 10 MiB is cut, and says so', { timeout: TEST_MS }, async () => {
    const script = `document.body.innerHTML = '<style>p { display: none }</style>' + ('<p>' + 'word '.repeat(2000) + '</p>').repeat(1200)`;
    trap.pages.set('endless', `<body><script>${script}</script></body>`);
    const { data } = await draw('/endless', { bytes_max: 2 * MIB, main_content: false });
    expect([data.truncated, Buffer.byteLength(data.content) <= 2 * MIB]).toEqual([true, true]);
  });

  test('a selector costs no more than its time', { timeout: TEST_MS }, async () => {
    const script = `let html = ''; for (let i = 0; i < 3e4; i++) html += '<div class=a><p class=b></p></div>'; document.body.innerHTML = '<div>'.repeat(200) + html`;
    trap.pages.set('endless', `<body><script>${script}</script></body>`);
    const body = await draw('/endless', { wait_for: 'div div div ~ div div ~ p, * * * x' });
    expect(outcomeOf(body)).toMatch(/^(drawn|VALIDATION_FAILED too_complex)$/);
  });
});
