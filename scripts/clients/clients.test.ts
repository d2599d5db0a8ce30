// What the clients do without a service: signatures of webhooks as the reference library makes them, and one class for every failure.
import { execFile, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, QuartermasterError, verifyWebhook } from '../../clients/typescript/quartermaster.js';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
const NOW_MS = Date.UTC(2026, 10, 1);
const body = '{"type":"queue.dlq","data":{"object":{"label":"déjà vu"}}}';
const hasPython = spawnSync('python3', ['--version']).status === 0;

function signed(secret: string, atMs = NOW_MS): Record<string, string> {
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(atMs / 1000),
    'webhook-signature': new Webhook(secret).sign('evt_1', new Date(atMs), body),
  };
}

const rotating = { ...signed(SECRET), 'webhook-signature': `v1,AAAA v1a,zzz ${signed(SECRET)['webhook-signature']}` };
const capitals = Object.fromEntries(
  Object.entries(signed(SECRET)).map(([name, value]) => [
    name.replaceAll(/\b\w/g, (letter) => letter.toUpperCase()),
    value,
  ]),
);

const genuine: readonly (readonly [string, Record<string, string>])[] = [
  ['a signature', signed(SECRET)],
  ['one of several, during a rotation', rotating],
  ['headers in capitals', capitals],
  ['299 seconds old', signed(SECRET, NOW_MS - 299_000)],
];

const forged: readonly (readonly [string, Record<string, string>])[] = [
  ['of another secret', signed(OTHER)],
  ['301 seconds old', signed(SECRET, NOW_MS - 301_000)],
  ['301 seconds ahead', signed(SECRET, NOW_MS + 301_000)],
  ['of another id', { ...signed(SECRET), 'webhook-id': 'evt_2' }],
  ['of no version', { ...signed(SECRET), 'webhook-signature': `v2${signed(SECRET)['webhook-signature']?.slice(2)}` }],
  ['without a time', { ...signed(SECRET), 'webhook-timestamp': '' }],
  ['with words for a time', { ...signed(SECRET), 'webhook-timestamp': 'now' }],
  ['empty', { ...signed(SECRET), 'webhook-signature': 'v1,' }],
];

test.each(genuine)('TypeScript: %s is genuine', async (_, headers) => {
  for (const given of [body, Buffer.from(body)]) {
    const event = await verifyWebhook({ body: given, headers, secret: SECRET, nowMs: NOW_MS });
    expect(event).toEqual(JSON.parse(body));
  }
  expect((await verifyWebhook({ body, headers: new Headers(headers), secret: SECRET, nowMs: NOW_MS })).type).toBe(
    'queue.dlq',
  );
});

test.each(forged)('TypeScript: a signature %s is refused', async (_, headers) => {
  const failure = await verifyWebhook({ body, headers, secret: SECRET, nowMs: NOW_MS }).catch((error) => error);
  expect(failure).toBeInstanceOf(QuartermasterError);
  expect(failure.code).toBe('WEBHOOK_SIGNATURE_INVALID');
});

test('TypeScript: a body that was changed, or a secret that is none', async () => {
  const changed = { body: `${body} `, headers: signed(SECRET), secret: SECRET, nowMs: NOW_MS };
  await expect(verifyWebhook(changed)).rejects.toMatchObject({ code: 'WEBHOOK_SIGNATURE_INVALID' });
  await expect(verifyWebhook({ ...changed, secret: '' })).rejects.toThrow('whsec_');
});

function python(script: string, input: unknown): unknown {
  const env = {
    ...process.env,
    PYTHONPATH: join(import.meta.dirname, '../../clients/python'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const { stdout, stderr } = spawnSync('python3', ['-c', script], {
    input: JSON.stringify(input),
    encoding: 'utf8',
    env,
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test.skipIf(!hasPython)('Python: the same signatures are genuine, the same are refused', () => {
  const script = `
import json, sys
from quartermaster import QuartermasterError, verify_webhook
body, secret, now, cases = json.load(sys.stdin)
def judge(headers, raw):
    try:
        return verify_webhook(raw, headers, secret, now=now)["type"]
    except QuartermasterError as error:
        return error.code
print(json.dumps([[judge(headers, body), judge(headers, body.encode())] for headers in cases] + [judge(cases[0], body + " ")]))`;
  const cases = [...genuine, ...forged].map(([, headers]) => headers);
  const refused = 'WEBHOOK_SIGNATURE_INVALID';
  expect(python(script, [body, SECRET, NOW_MS / 1000, cases])).toEqual([
    ...genuine.map(() => ['queue.dlq', 'queue.dlq']),
    ...forged.map(() => [refused, refused]),
    refused,
  ]);
});

/** What stands in place of the service, by path. */
const server = createServer((req, res) => {
  if (req.url?.startsWith('/html')) res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>');
  else if (req.url?.startsWith('/proxy')) res.writeHead(502).end('Bad Gateway');
  else if (req.url?.startsWith('/cut')) {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('{"ok":', () => res.destroy());
  } else if (req.url?.startsWith('/refused')) {
    const error = {
      code: 'VALIDATION_FAILED',
      message: 'no',
      code_detail: 'unknown_field',
      param: 'nam',
      did_you_mean: 'name',
    };
    res.writeHead(400).end(JSON.stringify({ ok: false, error: { ...error, request_id: 'req_1' } }));
  } else if (req.url?.startsWith('/warns')) {
    const metadata = { request_id: 'req_1', warnings: ['time is no field of logs.ingest: use timestamp'] };
    res.writeHead(200).end(JSON.stringify({ ok: true, data: {}, metadata }));
  } else if (req.url?.startsWith('/pages')) {
    const cursor = new URL(req.url, 'http://x').searchParams.get('cursor');
    const page = cursor === 'two' ? { items: [3], next_cursor: null } : { items: [1, 2], next_cursor: 'two' };
    res.writeHead(200).end(JSON.stringify({ ok: true, data: page, metadata: { request_id: 'req_1' } }));
  }
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const failures: readonly (readonly [path: string, expected: object])[] = [
  ['/html', { code: 'HTTP_200', status: 200, retryable: false }],
  ['/proxy', { code: 'HTTP_502', status: 502, retryable: true }],
  ['/cut', { code: 'NETWORK_ERROR', status: 0, retryable: true }],
  ['/silent', { code: 'TIMEOUT', status: 0, retryable: true }],
  ['/refused', { code: 'VALIDATION_FAILED', status: 400, retryable: false, param: 'nam' }],
];

test.each(failures)('TypeScript: a call that %s answers fails by the one class', async (path, expected) => {
  const client = createClient({ key: 'k', url: url + path, retries: 0, timeoutMs: path === '/silent' ? 300 : 60_000 });
  const failure = await client.queue.list().catch((error) => error);
  expect(failure).toBeInstanceOf(QuartermasterError);
  expect(failure).toMatchObject(expected);
  if (path === '/refused')
    expect(failure).toMatchObject({ didYouMean: 'name', requestId: 'req_1', codeDetail: 'unknown_field' });
});

test('TypeScript: a signal that ends a call, and a host that is not there', async () => {
  const stopped = createClient({ key: 'k', url: `${url}/silent`, retries: 3 }).queue.list(
    {},
    { signal: AbortSignal.timeout(50) },
  );
  await expect(stopped).rejects.toMatchObject({ code: 'ABORTED', retryable: false });
  const nowhere = createClient({ key: 'k', url: 'http://127.0.0.1:9', retries: 0 }).queue.list();
  await expect(nowhere).rejects.toBeInstanceOf(QuartermasterError);
});

test('TypeScript: a warning is told once by default, or each to a callback; pages are one sequence', async () => {
  const told: unknown[] = [];
  const client = createClient({ key: 'k', url: `${url}/warns`, onWarning: (...given) => told.push(given) });
  for (let i = 0; i < 2; i += 1) await client.logs.ingest({ items: [] });
  expect(told).toHaveLength(2);
  expect(told[0]).toEqual([
    'time is no field of logs.ingest: use timestamp',
    { capability: 'logs.ingest', requestId: 'req_1' },
  ]);
  const items: unknown[] = [];
  for await (const item of createClient({ key: 'k', url: `${url}/pages` }).pages('queue.list')) items.push(item);
  expect(items).toEqual([1, 2, 3]);
});

test.skipIf(!hasPython)('Python: the same failures, warnings and pages', async () => {
  const script = `
import json, sys, logging
from quartermaster import Client, QuartermasterError
url, paths = json.load(sys.stdin)
said = {}
for path in paths:
    try:
        Client("k", url + path, retries=0, timeout=0.3 if path == "/silent" else 60).queue.list()
    except QuartermasterError as error:
        said[path] = [error.code, error.status, error.retryable, error.param, error.did_you_mean]
told = []
warned = Client("k", url + "/warns", on_warning=lambda warning, id: told.append([warning, id]))
warned.logs.ingest({"items": []})
said["told"] = told
logged = []
logging.getLogger("quartermaster").addFilter(lambda record: logged.append(record.getMessage()))
once = Client("k", url + "/warns")
once.logs.ingest({"items": []})
once.logs.ingest({"items": []})
said["logged"] = logged
said["pages"] = list(Client("k", url + "/pages").pages("queue.list"))
print(json.dumps(said))`;
  const env = {
    ...process.env,
    PYTHONPATH: join(import.meta.dirname, '../../clients/python'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const stdout = await new Promise<string>((resolve, reject) => {
    const child = execFile('python3', ['-c', script], { env }, (error, out) => (error ? reject(error) : resolve(out)));
    child.stdin?.end(JSON.stringify([url, failures.map(([path]) => path)]));
  });
  const warning = 'time is no field of logs.ingest: use timestamp';
  expect(JSON.parse(stdout)).toEqual({
    '/html': ['HTTP_200', 200, false, null, null],
    '/proxy': ['HTTP_502', 502, true, null, null],
    '/cut': ['NETWORK_ERROR', 0, true, null, null],
    '/silent': ['TIMEOUT', 0, true, null, null],
    '/refused': ['VALIDATION_FAILED', 400, false, 'nam', 'name'],
    told: [[warning, 'logs.ingest']],
    logged: [`logs.ingest: ${warning}`],
    pages: [1, 2, 3],
  });
});
