// Processes without the role render have pictures, PDFs and pages of a browser made by those that have it (RENDERERS). In the long set for its
// browser.
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { channelKey, connectChannel } from '../../src/rendering/channel.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/process.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { type Site, startSite } from '../support/site.ts';

let database: TestDatabase;
let port: number;
let renderer: TestService;
let web: TestService;
let site: Site;
let call: Client;

beforeAll(async () => {
  const picture = await sharp({ create: { width: 40, height: 20, channels: 3, background: '#f00' } })
    .png()
    .toBuffer();
  site = await startSite({
    '/picture': (_, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(picture),
    '/page': '<!doctype html><title>Before</title><script>document.title = "Drawn"</script>',
  });
  port = await freePort();
  // It reaches no site: what a page or a document asks for, the process that was called fetches.
  const env = { ROLES: 'render', RENDER_PORT: String(port), ALLOW_PRIVATE_SOURCES: '' };
  database = await createTestDatabase();
  const { rendering } = admission;
  renderer = await startTestService({
    database,
    env,
    admission: { ...admission, rendering: { ...rendering, silenceMs: 2_000, beatMs: 500 } },
  });
  const gone = await freePort();
  web = await startTestService({
    database,
    env: { ROLES: 'web,work', RENDERERS: `127.0.0.1:${gone}, 127.0.0.1:${port}`, CHROMIUM_PATH: '' },
    admission: { ...admission, rendering: { ...rendering, beatMs: 500 } },
  });
  call = client(web.url, (await createTestAccount(web.core, 1)).secret);
});
afterAll(async () => {
  await web?.stop();
  await renderer?.stop();
  await site?.stop();
  await database?.drop();
});

const info = (by: Client) => by('POST', '/v1/image/info', { source: { url: `${site.url}/picture` } });
const drawPage = (engine: string) =>
  call('POST', '/v1/pdf/create', {
    type: 'html',
    content: `<h1>Tea</h1><img src="${site.url}/picture">`,
    engine,
    inline: true,
  });

test('a process that only renders answers no call', async () => {
  const { secret } = await createTestAccount(renderer.core, 1);
  expect((await info(client(renderer.url, secret))).body.error.code).toBe('NOT_FOUND');
});

test('a picture is transformed, and told of', async () => {
  const { body } = await call('POST', '/v1/image/transform', {
    source: { url: `${site.url}/picture` },
    resize: { width: 10 },
    format: 'webp',
    inline: true,
  });
  const bytes = Buffer.from(body.data.content_base64, 'base64');
  expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 10, height: 5 });
  expect((await info(call)).body.data).toMatchObject({ format: 'png', width: 40, height: 20 });
  const refused = await call('POST', '/v1/image/info', { source: { content_base64: 'AAAA' } });
  expect(refused.body.error.code_detail).toBe('not_an_image');
});

test.each(['document', 'browser'])('a PDF is made by the %s engine, with a picture of the web', async (engine) => {
  const asked = site.asked.length;
  const { body } = await drawPage(engine);
  expect(body.data).toMatchObject({ pages: 1, engine });
  expect(site.asked.slice(asked)).toContain('/picture');
});

test('a page is shown by a browser, scripts and all', async () => {
  const { body } = await call('POST', '/v1/web/screenshot', { url: `${site.url}/page`, inline: true });
  expect(body.data).toMatchObject({ title: 'Drawn' });
});

test('who does not know the server secret gets nothing, and frames that are none end their connection', async () => {
  const stranger = connect({
    port,
    ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
    maxVersion: 'TLSv1.2',
    pskCallback: () => ({ psk: Buffer.alloc(32, 7), identity: 'quartermaster' }),
    checkServerIdentity: () => undefined,
  });
  await expect(once(stranger, 'secureConnect')).rejects.toThrow();
  const { secrets, bounds } = web.core;
  // What says nothing for as long as a process may be silent is closed too: the renderer of this test waits two seconds.
  const sent = [Buffer.alloc(0), Buffer.alloc(4, 0xff), Buffer.from([0, 0, 0, 3, 1, 2, 3])];
  for (const bytes of sent) {
    const socket: TLSSocket = await connectChannel({ host: '127.0.0.1', port }, channelKey(secrets), bounds.rendering);
    socket.on('error', () => undefined).resume();
    socket.write(bytes);
    await once(socket, 'close');
  }
  expect((await info(call)).status).toBe(200);
});

test('without a process that renders a call fails, costs nothing, and works again when there is one', async () => {
  await renderer.stop();
  const balance = async () => (await call('GET', '/v1/account/balance')).body.data.balance_usd;
  const before = await balance();
  const { status, body } = await drawPage('document');
  expect([status, body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(await balance()).toBe(before);
  const env = { ROLES: 'render', RENDER_PORT: String(port) };
  renderer = await startTestService({ database: web.database, env });
  expect((await drawPage('document')).status).toBe(200);
});
