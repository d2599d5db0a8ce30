// Bytes of strangers never have the rights of the console's origin: whatever an object, a picture or an attachment is, a browser that opens it
// gives it an origin of its own, and no page of this service can be made to run it.
import { globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { mountedRawRoutes } from '../../src/surfaces/raw/raw.ts';
import type { S3Bench } from '../s3/harness.ts';
import { send } from '../s3/wire.ts';
import { manifest } from '../support/capabilities.ts';
import { signedIn } from '../support/console.ts';
import { type Client, client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const FILES = {
  'page.html': ['text/html', '<script src="/s3/box/run.js"></script>'],
  'run.js': ['text/javascript', 'alert(document.cookie)'],
  'drawing.svg': ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  'page.xhtml': [
    'application/xhtml+xml',
    '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>',
  ],
} as const;
type Name = keyof typeof FILES;
const names = Object.keys(FILES) as Name[];
const RUN = ['script', 'style', 'worker', 'sharedworker', 'serviceworker', 'audioworklet', 'paintworklet', 'xslt'];

let service: SharedService;
let secret: string;
let call: Client;
let signer: S3Bench;
beforeAll(async () => {
  service = await sharedService();
  ({ secret } = await createTestAccount(service.core, 10));
  call = client(service.url, secret);
  await call('POST', '/v1/storage/bucket/create', { bucket: 'box' });
  for (const key of names) {
    const [type, content] = FILES[key];
    await call('POST', '/v1/storage/object/put', { bucket: 'box', key, content, content_type: type });
  }
  const { body } = await call('GET', '/v1/account/keys/aws');
  const key = { accessKeyId: body.data.access_key_id, secretAccessKey: body.data.secret_access_key };
  signer = { root: service.url, key } as S3Bench;
});

const presigned = async (key: string) =>
  (await call('POST', '/v1/storage/presign', { bucket: 'box', key, method: 'GET', expires_seconds: 600 })).body.data
    .url;
const shared = async (key: string) =>
  (await call('POST', '/v1/storage/share/create', { bucket: 'box', key })).body.data.url;
/** Objects longer than 1 MiB are read by such a link. */
const linked = async (key: Name) => {
  const [content_type, content] = FILES[key];
  const long = `${content}${' '.repeat(1_048_576)}`;
  await call('POST', '/v1/storage/object/put', { bucket: 'box', key: `long-${key}`, content: long, content_type });
  return (await call('GET', `/v1/storage/object/get?bucket=box&key=long-${key}`)).body.data.url;
};
const closed = (headers: { get(name: string): string | null }) => {
  expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'$/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
};

describe.each(names)('%s, uploaded,', (key) => {
  test('is opened in a sandbox by every address there is', async () => {
    for (const url of [await presigned(key), await shared(key), await linked(key)]) {
      const whole = await fetch(url);
      expect(whole.status, url).toBe(200);
      expect(whole.headers.get('content-type')).toMatch(FILES[key][0]);
      closed(whole.headers);
      const part = await fetch(url, { headers: { range: 'bytes=0-3' } });
      expect(part.status, url).toBe(206);
      closed(part.headers);
    }
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await send(signer, { method, path: `/s3/box/${key}` });
      expect(status).toBe(200);
      closed({ get: (name) => String(headers[name]) });
    }
  });

  test('is not run by a page of this service, and by pages elsewhere as before', async () => {
    for (const url of [await presigned(key), await shared(key), await linked(key)]) {
      for (const dest of RUN) {
        const as = (site: string) => fetch(url, { headers: { 'sec-fetch-site': site, 'sec-fetch-dest': dest } });
        expect((await as('same-origin')).status, dest).toBe(400);
        expect((await as('cross-site')).status, dest).toBe(200);
      }
      for (const dest of ['document', 'image', 'empty', 'iframe']) {
        const reply = await fetch(url, { headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': dest } });
        expect(reply.status, dest).toBe(200);
      }
    }
  });
});

test('an object whose type a presigned address names anew is in the sandbox too', async () => {
  const path = '/s3/box/run.js?response-content-type=text%2Fhtml';
  const { status, headers } = await send(signer, { path });
  expect([status, headers['content-type']]).toEqual([200, 'text/html']);
  closed({ get: (name) => String(headers[name]) });
});

test('a page of the console runs scripts by a nonce of this answer alone, so nothing that somebody uploaded', async () => {
  const visitor = await signedIn(service.url, secret);
  const policies: string[] = [];
  for (const path of ['/console', '/console/metrics', '/console/metrics']) {
    const { status, headers, text } = await visitor.get(path);
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy') ?? '';
    const [, nonce] = /script-src 'nonce-([\w+/=]{24})'(?:;|$)/.exec(policy) ?? [];
    const scripts = text.match(/<script\b[^>]*>/g) ?? [];
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) expect(script).toContain(` nonce="${nonce}"`);
    policies.push(policy);
  }
  expect(new Set(policies).size).toBe(3);
});

describe('every route that is no call by JSON', () => {
  const routes = mountedRawRoutes(manifest, new Map(), () => service.core).filter(({ socket }) => socket === undefined);

  test('answers nothing that a page of this service runs, but for the scripts of the console', async () => {
    const open = new Set<string>();
    // Browsers load by GET what they run.
    const read = routes.filter(({ route }) => route.methods.includes('GET'));
    for (const { route } of read) {
      const url = service.url + route.path.replaceAll(/\{\w+\*?\}/g, 'x');
      const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'script' };
      const reply = await fetch(url, { headers });
      const text = await reply.text();
      if (!(reply.status === 400 && text.includes('may not load this address as a script'))) open.add(route.name);
    }
    expect(read.length).toBeGreaterThan(30);
    expect([...open]).toEqual(['console.assets']);
  });

  test('has a policy, also where it is refused', async () => {
    for (const { route } of routes) {
      const reply = await fetch(service.url + route.path.replaceAll(/\{\w+\*?\}/g, 'x'), { method: route.methods[0] });
      await reply.body?.cancel();
      expect(reply.headers.get('content-security-policy'), route.name).toMatch(/default-src 'none'/);
      expect(reply.headers.get('x-content-type-options'), route.name).toBe('nosniff');
    }
  });

  test('is closed by one function: a policy of its own have only pages that this service writes', () => {
    const files = globSync('src/{modules,surfaces,jobs,core,kit}/**/*.ts', {
      exclude: (name) => name.endsWith('.test.ts'),
    });
    const own = files.filter((file) => /'content-security-policy'/i.test(readFileSync(file, 'utf8')));
    expect(own.map((file) => file.replaceAll('\\', '/')).sort()).toEqual([
      'src/modules/email/tracking/routes.ts',
      'src/surfaces/documents/documents.ts',
      'src/surfaces/http/headers.ts',
      'src/surfaces/http/origin.ts',
      'src/surfaces/pages/frame.ts',
      'src/surfaces/public/public.ts',
    ]);
  });
});
