// What browsers get that know no better: a page where the documentation has none, and an icon.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { ROLE: 'api' } });
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

test('there is an icon, and pages carry it in themselves', async () => {
  for (const path of ['/favicon.ico', '/favicon.svg']) {
    const { status, type, text } = await get(path, '*/*');
    expect([status, type]).toEqual([200, 'image/svg+xml']);
    expect(text).toMatch(/^<svg [\s\S]*<\/svg>$/);
  }
  for (const path of ['/docs', '/auth'])
    expect((await get(path, 'text/html')).text).toContain('<link rel="icon" href="data:image/svg+xml,');
});
