// What browsers get that know no better: a page where the documentation has none, and an icon.
import { request } from 'node:http';
import { text as body } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { ROLES: 'web,render' } });
});
afterAll(() => service.stop());

async function get(path: string, accept: string) {
  const answer = await fetch(`${service.url}${path}`, { headers: { accept } });
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    vary: answer.headers.get('vary'),
    text: await answer.text(),
  };
}

describe('a page of the documentation that does not exist', () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  test.each([
    ['/docs/errors/QUEUE_NOT_FOND', '/docs/errors/QUEUE_NOT_FOUND'],
    ['/docs/errors/NOPE', '/docs/errors'],
    ['/docs/capabilities/queue.publsh', '/docs/capabilities/queue.publish'],
    ['/docs/events/queue.dlqq', '/docs/events/queue.dlq'],
    ['/docs/guides/queus', '/docs/guides/queues'],
    ['/docs/modules/quue', '/docs/modules/queue'],
    ['/docs/constructor/x', '/docs'],
    ['/docs/<b>&', '/docs'],
  ])('%s is a page for browsers, with a way to %s, and JSON for programs', async (path, to) => {
    const { status, type, vary, text } = await get(encodeURI(path), browser);
    expect([status, type, vary]).toEqual([404, 'text/html; charset=utf-8', 'Accept']);
    expect([text.includes('<h1>Page not found</h1>'), text.includes(`href="${to}"`)]).toEqual([true, true]);
    for (const accept of ['application/json', '*/*']) {
      const told = JSON.parse((await get(encodeURI(path), accept)).text);
      expect(told.error).toMatchObject({ code: 'NOT_FOUND', http_status: 404 });
    }
  });
});

test('no path below /docs leads to anything but its pages, whatever bytes are in it', async () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => `%${byte.toString(16).padStart(2, '0')}`);
  const climbing = [
    '../package.json',
    '..%2f..%2fpackage.json',
    '%2e%2e/contract',
    '....//contract',
    'queues%00',
    'contract',
  ];
  const names = [...bytes, ...climbing, ...climbing.map((name) => `${name}.md`), 'x'.repeat(5_000)];
  for (const section of ['guides', 'modules', 'capabilities', 'errors', 'events'])
    for (const name of names) {
      const { status, text } = await rawly(`/docs/${section}/${name}`);
      expect([400, 404, 414, 431], `${section}/${name.slice(0, 40)}`).toContain(status);
      expect(text).not.toMatch(/quartermaster", *"version|What it leaves open/);
      expect(text, name.slice(0, 40)).not.toContain('<script>');
    }
});

/** The path as it stands, asked for by a browser. */
function rawly(path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    const sent = request({ hostname, port, path, headers: { accept: 'text/html' } }, async (answer) => {
      resolve({ status: answer.statusCode ?? 0, text: await body(answer) });
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('there is an icon, and pages carry it in themselves', async () => {
  for (const path of ['/favicon.ico', '/favicon.svg']) {
    const { status, type, text } = await get(path, '*/*');
    expect([status, type]).toEqual([200, 'image/svg+xml']);
    expect(text).toMatch(/^<svg [\s\S]*<\/svg>$/);
  }
  for (const path of ['/docs', '/auth'])
    expect((await get(path, 'text/html')).text).toContain('<link rel="icon" href="data:image/svg+xml,');
});
