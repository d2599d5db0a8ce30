// The clients of clients/ against a real service, as their users have them: calls, failures, repeats over lost answers, streams.
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient, QuartermasterError } from '../../clients/typescript/quartermaster.js';
import { PROJECT } from '../support/process.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

const TYPES_BYTES_MAX = 300_000;
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-clients-'));
let qm: TestService;
let proxy: Server;
let key: string;
let url: string;
/** What befalls the next requests, each for one: the service does the work and its answer is lost, or it is not asked at all. */
let mishaps: ('lost' | 'busy')[] = [];

beforeAll(async () => {
  qm = await startTestService();
  key = (await createTestAccount(qm.core)).secret;
  proxy = createServer((req, res) => {
    const mishap = mishaps.shift();
    if (mishap === 'busy') {
      const error = { code: 'OVERLOADED', message: 'busy', retryable: true, retry_after_ms: 5 };
      res.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: false, error }));
      return;
    }
    const { method, headers, url: path = '/' } = req;
    const asked = request(`${qm.url}${path}`, { method, headers }, (answer) => {
      if (mishap === 'lost') {
        answer.resume().once('end', () => res.destroy());
        return;
      }
      res.writeHead(answer.statusCode as number, answer.headers);
      answer.pipe(res);
    });
    asked.on('error', () => res.destroy());
    res.on('close', () => asked.destroy());
    req.pipe(asked);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
beforeEach(() => {
  mishaps = [];
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await qm.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('TypeScript: typed calls answer data, and call tells what they cost', async () => {
  const client = createClient({ key, url });
  const queue = await client.queue.create({ name: 'typed' });
  expect(queue.name).toBe('typed');
  const { data, metadata } = await client.call('queue.publish', { queue: 'typed', payload: { n: 1 } });
  expect(data.status).toBe('available');
  expect(metadata.cost_usd).toBe(0.00002);
  const { items: messages } = await client.queue.consume({ queue: 'typed' });
  expect(messages[0]?.payload).toEqual({ n: 1 });
  expect((await client.queue.get({ queue: 'typed' })).name).toBe('typed');
  const listed = await client.queue.list({ limit: 1 });
  expect(listed.items.map(({ name }) => name)).toEqual(['typed']);
  await client.queue.delete({ queue: 'typed' });
  // @ts-expect-error: a queue has a name
  await expect(client.queue.create({})).rejects.toMatchObject({ code: 'VALIDATION_FAILED', status: 400 });
});

test('TypeScript: what a path names may be sent as id, as before', async () => {
  const client = createClient({ key, url });
  const { key_id } = await client.account.keys.create({ name: 'earlier' });
  // @ts-expect-error: the types know the name of today alone
  const { data } = await client.call('account.keys.update', { id: key_id, name: 'later' });
  expect(data.name).toBe('later');
});

test('TypeScript: a failure is thrown with its code, and is not repeated when that cannot help', async () => {
  const client = createClient({ key, url });
  const failure = await client.queue.publish({ queue: 'missing', payload: {} }).catch((error) => error);
  expect(failure).toBeInstanceOf(QuartermasterError);
  expect(failure).toMatchObject({ code: 'QUEUE_NOT_FOUND', status: 404, retryable: false });
  expect(failure.requestId).toMatch(/^req_/);
  await expect(createClient({ key: 'qm_wrong', url }).account.get()).rejects.toMatchObject({ status: 401 });
});

test('TypeScript: a write is done once though its answer is lost and the service is busy', async () => {
  const client = createClient({ key, url });
  await client.queue.create({ name: 'once' });
  mishaps = ['lost', 'busy'];
  await client.queue.publish({ queue: 'once', payload: { n: 1 } });
  expect(mishaps).toEqual([]);
  const { items: messages } = await client.queue.consume({ queue: 'once', max_messages: 10 });
  expect(messages).toHaveLength(1);
  mishaps = ['lost'];
  await expect(client.queue.consume({ queue: 'once' }), 'no key makes it safe').rejects.toThrow();
  mishaps = ['busy', 'busy'];
  await expect(createClient({ key, url, retries: 1 }).account.get()).rejects.toMatchObject({ code: 'OVERLOADED' });
});

test('TypeScript: streams of a chat, of channels over a lost connection, and of logs', async () => {
  const client = createClient({ key, url });
  let said = '';
  const chat = { model: 'sandbox/echo-1', messages: [{ role: 'user', content: 'Say hello' }] };
  for await (const { data } of client.streams.chat(chat)) said += data.choices[0]?.delta?.content ?? '';
  expect(said).toMatch(/hello/i);

  const heard: unknown[] = [];
  await client.realtime.publish({ channel: 'news', event: 'first', data: 1 });
  const stop = new AbortController();
  const reading = (async () => {
    for await (const { event, data } of client.streams.realtime({ channels: 'news' }, { signal: stop.signal }))
      heard.push([event, data]);
  })().catch(() => undefined);
  await expect
    .poll(async () => {
      await client.realtime.publish({ channel: 'news', event: 'second', data: 2 });
      return heard.length;
    })
    .toBeGreaterThan(0);
  proxy.closeAllConnections();
  await client.realtime.publish({ channel: 'news', event: 'after', data: { n: 3 } });
  await expect.poll(() => JSON.stringify(heard)).toContain('after');
  stop.abort();
  await reading;

  const logs = client.logs.tail({ level: 'error' });
  let first = '';
  const waiting = logs.next().then(({ value }) => {
    first = JSON.stringify(value);
  });
  await expect
    .poll(async () => {
      await client.logs.ingest({ items: [{ level: 'error', message: 'it broke' }] });
      return first;
    })
    .toContain('it broke');
  await waiting;
  await logs.return(undefined);
});

const SCRIPT = `
import json, sys
from quartermaster import Client, QuartermasterError
key, url = sys.argv[1:]
qm = Client(key, url)
said = {}
said["created"] = qm.queue.create({"name": "python"})["name"]
qm.queue.publish({"queue": "python", "payload": {"n": 1}})
said["messages"] = [one["payload"] for one in qm.queue.consume({"queue": "python", "max_messages": 10})["items"]]
said["got"] = qm.queue.get({"queue": "python"})["name"]
made = qm.account.keys.create({"name": "earlier"})["key_id"]
said["renamed"] = qm.call("account.keys.update", {"id": made, "name": "later"})[0]["name"]
said["listed"] = [one["name"] for one in qm.queue.list({"limit": 100})["items"]]
data, metadata = qm.call("queue.publish", {"queue": "python", "payload": {}})
said["cost"] = metadata["cost_usd"]
try:
    qm.queue.publish({"queue": "missing", "payload": {}})
except QuartermasterError as error:
    said["failure"] = [error.code, error.status, error.retryable, error.request_id[:4]]
chat = {"model": "sandbox/echo-1", "messages": [{"role": "user", "content": "Say hello"}]}
said["chat"] = "".join(e.data["choices"][0]["delta"].get("content") or "" for e in qm.streams.chat(chat) if e.data["choices"])
print(json.dumps(said))
`;

test('Python: calls, failures, a stream, and a write that is done once though its answer is lost', async () => {
  mishaps = ['lost', 'busy'];
  const env = { ...process.env, PYTHONPATH: join(PROJECT, 'clients/python') };
  const { stdout } = await promisify(execFile)('python3', ['-c', SCRIPT, key, url], { env });
  expect(mishaps).toEqual([]);
  const said = JSON.parse(stdout);
  expect(said).toMatchObject({ created: 'python', messages: [{ n: 1 }], got: 'python', cost: 0.00002 });
  expect(said.listed).toContain('python');
  expect(said.renamed).toBe('later');
  expect(said.failure).toEqual(['QUEUE_NOT_FOUND', 404, false, 'req_']);
  expect(said.chat).toMatch(/hello/i);
});

test('TypeScript: the items of all pages, and calls of the request log as they come', async () => {
  const client = createClient({ key: (await createTestAccount(qm.core)).secret, url });
  for (let i = 0; i < 5; i += 1) await client.queue.create({ name: `page-${i}` });
  const names: string[] = [];
  for await (const { name } of client.pages('queue.list', { limit: 2 })) names.push(name);
  expect(names.sort()).toEqual(['page-0', 'page-1', 'page-2', 'page-3', 'page-4']);

  const seen = client.account.requests.tail({ capability: 'queue.get' });
  let first = '';
  const waiting = seen.next().then(({ value }) => {
    first = JSON.stringify(value);
  });
  await expect
    .poll(async () => {
      await client.queue.get({ queue: 'missing' }).catch(() => undefined);
      return first;
    })
    .toContain('QUEUE_NOT_FOUND');
  await waiting;
  await seen.return(undefined);
});

test('each is packed with nothing but itself', () => {
  const at = join(PROJECT, 'clients/typescript');
  execFileSync('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], { cwd: at, stdio: 'pipe' });
  const [tarball] = globSync('quartermaster-client-*.tgz', { cwd: folder }) as [string];
  const files = execFileSync('tar', ['tf', join(folder, tarball)], { encoding: 'utf8' });
  expect(files.trim().split('\n').sort()).toEqual(
    ['LICENSE', 'README.md', 'package.json', 'quartermaster.d.ts', 'quartermaster.js'].map((file) => `package/${file}`),
  );
  expect(statSync(join(at, 'quartermaster.d.ts')).size).toBeLessThan(TYPES_BYTES_MAX);
  const README_LINES_MAX = 45;
  for (const name of ['typescript', 'python'])
    expect(readFileSync(join(PROJECT, 'clients', name, 'README.md'), 'utf8').split('\n').length).toBeLessThan(
      README_LINES_MAX,
    );
});

test('the examples of both READMEs are right', async () => {
  const client = createClient({ key, url });
  await client.queue.create({ name: 'jobs' }).catch(() => undefined);
  const block = (name: string, language: string) => {
    const readme = readFileSync(join(PROJECT, 'clients', name, 'README.md'), 'utf8');
    return (new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(readme)?.[1] ?? '').replace(
      'http://127.0.0.1:8787',
      url,
    );
  };
  const env = { ...process.env, QM_KEY: key, PYTHONPATH: join(PROJECT, 'clients/python') };
  const run = promisify(execFile);
  writeFileSync(
    join(folder, 'readme.mts'),
    block('typescript', 'ts').replace('quartermaster-client', join(PROJECT, 'clients/typescript/quartermaster.js')),
  );
  expect((await run(process.execPath, [join(folder, 'readme.mts')], { env })).stdout).toMatch(/hello/i);
  expect((await run('python3', ['-c', block('python', 'python')], { env })).stdout).toMatch(/hello/i);
});
