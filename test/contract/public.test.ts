// What is there without a key: the root, the documents with their tags and encodings, planned modules, and headers of every answer.
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { plannedModules } from '../../src/manifest/planned/modules.ts';
import { publicDocuments } from '../../src/surfaces/documents/documents.ts';
import { manifest } from '../support/capabilities.ts';
import { expectFailure } from '../support/envelope.ts';
import { client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
let secret: string;

beforeAll(async () => {
  service = await sharedService();
  secret = (await createTestAccount(service.core)).secret;
});

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Of this process, all its threads. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Without anything that a client adds or decodes by itself. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(service.url), { path, headers, method }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Of documents that are made alike: those of one folder with one ending. */
function oneOfEachKind(paths: readonly string[]): string[] {
  const kind = (path: string) => path.replace(/^(\/docs\/[^/]+\/|\/[^/]+\/).*?(\.(?:md|txt|json))?$/, '$1$2');
  return [...new Map(paths.map((path) => [kind(path), path])).values()];
}

describe('a document', () => {
  const paths = [...publicDocuments(manifest, { baseUrl: 'http://127.0.0.1' }).keys()];

  test.each(oneOfEachKind(paths))('%s is the same text in every encoding', async (path) => {
    const plain = await get(path);
    expect(plain.headers['content-encoding']).toBeUndefined();
    const [br, zipped] = [
      await get(path, { 'accept-encoding': 'gzip, deflate, br' }),
      await get(path, { 'accept-encoding': 'gzip' }),
    ];
    expect([br.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual(['br', 'gzip']);
    expect([br.headers.etag, zipped.headers.etag]).toEqual([plain.headers.etag, plain.headers.etag]);
    expect(brotliDecompressSync(br.body).equals(plain.body), path).toBe(true);
    expect(gunzipSync(zipped.body).equals(plain.body), path).toBe(true);
    const known = await get(path, { 'if-none-match': plain.headers.etag as string, 'accept-encoding': 'br' });
    expect([known.status, known.headers['content-encoding']]).toEqual([304, undefined]);
  });

  test.each([
    ['gzip;q=0, br;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
    ['GZIP;q=0.1', 'gzip'],
    ['identity', undefined],
    ['', undefined],
    [',;=;q=,', undefined],
  ])('with Accept-Encoding %j comes as %s', async (accepted, encoding) => {
    const { headers } = await get('/llms.txt', { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
  });

  test.each(['"other"', '', 'W/', '"', ','.repeat(4_000)])('If-None-Match %j is no known tag', async (named) => {
    expect((await get('/llms.txt', { 'if-none-match': named })).status).toBe(200);
  });

  test('is prepared once: its repeats do not render, hash or compress it again', async () => {
    const ask = () => get('/v1/openapi.json', { 'accept-encoding': 'br' });
    await ask();
    const asked = process.cpuUsage();
    for (let i = 0; i < 50; i += 1) await ask();
    const repeatMs = cpuMsSince(asked) / 50;
    const begun = process.cpuUsage();
    publicDocuments(manifest, { baseUrl: service.url }).get('/v1/openapi.json')?.render();
    expect(repeatMs).toBeLessThan(cpuMsSince(begun));
  });
});

describe('a part of the OpenAPI document', () => {
  const path = '/v1/openapi.json';

  test.each(['queue', 'vector,queue'])('?module=%s is a document of its own, with its own tag', async (modules) => {
    const [whole, part] = [await get(path), await get(`${path}?module=${modules}`)];
    expect([part.status, part.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const { tags, paths } = JSON.parse(part.body.toString());
    expect(tags.map(({ name }: { name: string }) => name)).toEqual(modules.split(',').sort());
    expect([paths['/queue/publish'] !== undefined, paths['/cron/create']]).toEqual([true, undefined]);
    expect(part.headers.etag).not.toBe(whole.headers.etag);
    const zipped = await get(`${path}?module=${modules}`, { 'accept-encoding': 'gzip' });
    const text = zipped.headers['content-encoding'] === 'gzip' ? gunzipSync(zipped.body) : zipped.body;
    expect([zipped.headers.etag, text.equals(part.body)]).toEqual([part.headers.etag, true]);
    const known = await get(`${path}?module=${modules}`, { 'if-none-match': part.headers.etag as string });
    expect([known.status, known.body.length]).toEqual([304, 0]);
    expect((await get(`${path}?module=${modules}`, {}, 'HEAD')).headers['content-length']).toBe(
      String(part.body.length),
    );
  });

  test('of a module that there is not is refused by name, and the whole stays the whole', async () => {
    const refused = await client(service.url)('GET', `${path}?module=queues`);
    expectFailure(refused, service.url);
    expect(refused.body.error).toMatchObject({ code: 'VALIDATION_FAILED', http_status: 400, param: 'module' });
    expect(refused.body.error.message).toContain('Did you mean queue?');
    expect(JSON.parse((await get(path)).body.toString()).paths['/cron/create']).toBeDefined();
  });
});

describe('GET /', () => {
  test.each([undefined, '*/*', 'application/json', 'application/json, text/html', 'text/html;q=0, */*'])(
    'is JSON with links that lead somewhere, to Accept: %s',
    async (accept) => {
      const { status, headers, body } = await get('/', accept === undefined ? {} : { accept });
      expect([status, headers['content-type'], headers.vary]).toEqual([
        200,
        'application/json; charset=utf-8',
        'Accept, Cookie, Accept-Encoding',
      ]);
      const { links } = JSON.parse(body.toString());
      expect(links).toMatchObject({
        llms: `${service.url}/llms.txt`,
        docs: `${service.url}/docs`,
        openapi: `${service.url}/v1/openapi.json`,
        discovery: `${service.url}/v1/discovery`,
        console: `${service.url}/console`,
      });
      for (const link of Object.values<string>(links)) {
        const path = link.slice(service.url.length);
        // A person signs in first.
        const expected = path === '/console' ? 303 : 200;
        expect([path, (await get(path, { authorization: `Bearer ${secret}` })).status]).toEqual([path, expected]);
      }
    },
  );

  test('is the documentation to browsers', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const [root, docs] = [await get('/', { accept }), await get('/docs')];
    expect([root.status, root.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(root.body.equals(docs.body)).toBe(true);
  });
});

describe('a page of the documentation', () => {
  const paths = ['/docs', '/docs/errors/QUEUE_NOT_FOUND', '/docs/events/queue.dlq', '/docs/capabilities/queue.publish'];
  const markdown = 'text/markdown; charset=utf-8';
  const html = 'text/html; charset=utf-8';

  test.each(paths)('%s is markdown at its address with .md, to GET and HEAD', async (path) => {
    const [got, head] = [await get(`${path}.md`), await get(`${path}.md`, {}, 'HEAD')];
    expect([got.status, got.headers['content-type'], got.headers.vary]).toEqual([200, markdown, 'Accept-Encoding']);
    expect([head.status, head.body.length]).toEqual([200, 0]);
    for (const name of ['content-type', 'content-length', 'etag', 'vary'])
      expect([name, head.headers[name]]).toEqual([name, got.headers[name]]);
  });

  test('has the colors that its reader chose in the console, and else those of the system', async () => {
    const [plain, chosen] = [await get('/docs'), await get('/docs', { cookie: 'qm_console=dark~UTC~on' })];
    expect([plain, chosen].map(({ body }) => /<html[^>]*>/.exec(body.toString())?.[0])).toEqual([
      '<html lang="en">',
      '<html lang="en" data-theme="dark">',
    ]);
    expect([plain, chosen].map(({ headers }) => headers['cache-control'])).toEqual([
      'public, max-age=300',
      'private, no-cache',
    ]);
    expect(chosen.headers.etag).not.toBe(plain.headers.etag);
    for (const path of ['/docs.md', '/llms.txt'])
      expect((await get(path, { cookie: 'qm_console=dark~UTC~on' })).headers['cache-control']).toBe(
        'public, max-age=300',
      );
  });

  test.each([
    [undefined, html],
    ['*/*', html],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', html],
    ['text/html, text/markdown;q=0.9', html],
    ['text/markdown;q=0', html],
    ['text/markdown', markdown],
    ['text/markdown, text/html;q=0.9, */*;q=0.1', markdown],
    ['text/markdown, text/html, */*', markdown],
  ])('comes to Accept: %s as %s, and says that it depends on it', async (accept, type) => {
    for (const path of paths) {
      const got = await get(path, accept === undefined ? {} : { accept });
      expect([path, got.headers['content-type'], got.headers.vary]).toEqual([
        path,
        type,
        'Accept, Cookie, Accept-Encoding',
      ]);
      if (type !== markdown) continue;
      const twin = await get(`${path}.md`);
      expect([got.headers.etag, got.body.equals(twin.body)]).toEqual([twin.headers.etag, true]);
      const known = await get(path, { accept: accept ?? '', 'if-none-match': twin.headers.etag as string });
      expect(known.status).toBe(304);
    }
  });
});

test('the least of a key, as llms.txt shows it, is a key for one capability', async () => {
  const llms = (await get('/llms.txt')).body.toString();
  const [, example = '{}'] = /POST \/v1\/account\/keys\/create with `(\{.*?\})`/.exec(llms) ?? [];
  const own = client(service.url, secret);
  const created = await own('POST', '/v1/account/keys/create', example);
  expect([created.status, created.body.data?.scopes]).toEqual([200, ['queue.publish']]);
  await own('POST', '/v1/queue/create', { name: 'least' });
  const producer = client(service.url, created.body.data.key_secret);
  expect((await producer('POST', '/v1/queue/publish', { queue: 'least', payload: {} })).status).toBe(200);
  expect((await producer('POST', '/v1/queue/consume', { queue: 'least' })).status).toBe(403);
});

describe('a module that is not built', () => {
  const planned = [...plannedModules(manifest.modules)];

  test.each(planned)('/v1/%s/… is told as planned, to any method, without a key', async (module) => {
    for (const [method, path] of [
      ['GET', `/v1/${module}`],
      ['POST', `/v1/${module}/send`],
      ['DELETE', `/v1/${module}/a/b/c?d=e`],
    ] as const) {
      const reply = await client(service.url)(method, path, method === 'POST' ? { to: 'a' } : undefined);
      expectFailure(reply, service.url);
      expect(reply.body.error).toMatchObject({
        code: 'CAPABILITY_NOT_FOUND',
        code_detail: 'planned',
        message: `The module ${module} is planned and not available here.`,
      });
    }
  });

  test('is named where an agent reads first', async () => {
    const llms = (await get('/llms.txt')).body.toString();
    const [, listed = ''] = /Planned, not available here: ([^.]*)\./.exec(llms) ?? [];
    expect(listed.split(', ')).toEqual(planned);
  });

  test.each(['/v1/emails/send', '/email/send', '/v1/', '/v2/email'])('%s is no planned module', async (path) => {
    expect((await client(service.url)('GET', path)).body.error).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('every answer', () => {
  const key = () => ({ authorization: `Bearer ${secret}` });
  const cases: readonly (readonly [string, () => Promise<Got>])[] = [
    ...['/healthz', '/readyz', '/metrics', '/nothing', '/v1/nothing', '/v1/email/send', '/docs/', '/docs/nothing'].map(
      (path) => [path, () => get(path)] as const,
    ),
    ['a path that is no path', () => get('/v1/queue/get/%ff')],
    ['metrics through a proxy', () => get('/metrics', { 'x-forwarded-for': '127.0.0.1' })],
    ['another method', () => get('/docs', {}, 'POST')],
    ['a success', () => get('/v1/account/balance', key())],
    ['a success without content', () => get('/v1/account/balance', key(), 'HEAD')],
    ['a call without a key', () => get('/v1/account/balance')],
    ['problem details', () => get('/v1/queue/get/none', { ...key(), accept: 'application/problem+json' })],
    ['a body that is no JSON', () => get('/v1/queue/create', key(), 'POST', '{')],
    ['a body for nothing', () => get('/v1/nothing', key(), 'POST', '{}')],
    ['Sentry', () => get('/v1/errors/sentry/api/1/envelope/', {}, 'POST', '{}')],
    ['Sentry, asked by a browser', () => get('/v1/errors/sentry/api/1/envelope/', {}, 'OPTIONS')],
    ['the console', () => get('/console/errors/errgrp_none')],
  ];

  const expectGuarded = ({ headers }: Got, what: string) => {
    expect([what, headers['x-content-type-options']]).toEqual([what, 'nosniff']);
    // What stands in a sandbox of its own has nothing that a frame around it could reach.
    const policy = /default-src 'none';.*frame-ancestors 'none'|^sandbox; default-src 'none'$/;
    expect(headers['content-security-policy'], what).toMatch(policy);
  };

  test.each(cases)(
    'says what it is, and that no page may frame it or it stands in a sandbox: %s',
    async (name, ask) => {
      expectGuarded(await ask(), name);
    },
  );

  test('so does every document, under a tag, and it is 304 when it is known', async () => {
    for (const path of publicDocuments(manifest, { baseUrl: 'http://127.0.0.1' }).keys()) {
      const got = await get(path);
      expectGuarded(got, path);
      const { etag } = got.headers;
      expect([path, got.status, etag]).toEqual([path, 200, expect.stringMatching(/^W\/"[\w-]{22}"$/)]);
      expect(got.headers.vary).toMatch(/Accept-Encoding$/);
      const known = await get(path, { 'if-none-match': `"other", ${etag}` });
      expect([path, known.status, known.body.length, known.headers.etag]).toEqual([path, 304, 0, etag]);
    }
  });
});
