// What may be sent to is not what may be read: each has a setting of its own, and nothing is read from the ports of the service itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pngOf } from '../support/hostile-pictures.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { type Site, startSite } from '../support/site.ts';

const TARGETS = '127.88.0.0/16';
const SOURCES = '127.77.0.0/16, 127.0.0.1/32';
const SOURCE_HOST = '127.77.4.1';
const TARGET_HOST = '127.88.4.1';
const picture = pngOf({ width: 2, height: 2 });

let service: TestService;
let call: Client;
/** The same pages at an address of each network. */
let source: Site;
let target: Site;
beforeAll(async () => {
  const env = { ALLOW_PRIVATE_TARGETS: TARGETS, ALLOW_PRIVATE_SOURCES: SOURCES };
  service = await startTestService({ env });
  call = client(service.url, (await createTestAccount(service.core, 5)).secret);
  const pages: Parameters<typeof startSite>[0] = {
    '/page': '<p>inside</p>',
    '/picture': (_, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(picture),
    '/home': (_, response) => void response.writeHead(302, { location: `${service.url}/metrics` }).end(),
  };
  [source, target] = await Promise.all([startSite(pages, SOURCE_HOST), startSite(pages, TARGET_HOST)]);
});
afterAll(async () => {
  await service.stop();
  await Promise.all([source.stop(), target.stop()]);
});

const readers: readonly [string, (url: string) => object][] = [
  ['web/fetch', (url) => ({ url })],
  ['web/map', (url) => ({ url })],
  ['image/info', (url) => ({ source: { url } })],
  ['pdf/info', (url) => ({ source: { url } })],
];
const read = (path: string, body: object) => call('POST', `/v1/${path}`, body);
/** What stood against it, wherever the call tells it. */
const refusal = /not public|must be https|must be http|one of this service itself|is not allowed/;

describe.each(readers)('%s', (path, bodyOf) => {
  test('reads nothing from a network that may only be sent to', async () => {
    const { status, body } = await read(path, bodyOf(`${target.url}/page`));
    expect(status).toBe(400);
    expect(body.error.message).toMatch(refusal);
    expect(target.asked).toEqual([]);
  });

  test('reads nothing from a port of the service itself, by whatever address, nor by a redirect', async () => {
    const { port } = new URL(service.url);
    for (const url of [
      `${service.url}/metrics`,
      `http://2130706433:${port}/metrics`,
      `http://${SOURCE_HOST}:${port}/metrics`,
      `${source.url}/home`,
    ]) {
      const { status, body, text } = await read(path, bodyOf(url));
      expect([url, status]).toEqual([url, 400]);
      expect(body.error.message, text).toMatch(/one of this service itself/);
    }
  });
});

test('pages and pictures of a network that may be read are read', async () => {
  const page = await read('web/fetch', { url: `${source.url}/page` });
  expect(page.body.data.content).toContain('inside');
  const info = await read('image/info', { source: { url: `${source.url}/picture` } });
  expect(info.body.data).toMatchObject({ width: 2, height: 2 });
});

test('a webhook may be sent to the one network, not to the other', async () => {
  const register = (url: string) => call('POST', '/v1/account/webhooks/register', { url, events: ['queue.dlq'] });
  expect((await register(`${target.url}/page`)).status).toBe(200);
  expect((await register(`${source.url}/page`)).body.error.code).toBe('WEBHOOK_URL_REJECTED');
});

test('a reference image is read, not sent to', async () => {
  const generate = (reference_image: string) =>
    read('video/generate', { prompt: 'A boat.', model: 'sandbox/storyboard-1', duration_seconds: 1, reference_image });
  const refused = await generate(`${target.url}/picture`);
  expect(refused.body.error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'reference_image' });
  expect((await generate(`${source.url}/picture`)).status).toBe(200);
});
