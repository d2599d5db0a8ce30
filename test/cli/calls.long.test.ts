// `qm call` and `qm whoami`: the real command against a real service.
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { QmHome } from '../support/qm.ts';
import type { Client } from '../support/service.ts';
import { type Door, openDoor } from './door.ts';

let door: Door;
let home: QmHome;
let call: Client;
let url: string;
let asked: string[];
beforeAll(async () => {
  door = await openDoor();
  ({ home, call, url, asked } = door);
});
afterAll(() => door?.stop());
beforeEach(() => {
  asked.length = 0;
});

describe('qm call', () => {
  test('asks for nothing but the call when what is offered is in the cache, which only its owner reads', async () => {
    const published = await home.run(['call', 'queue.publish', 'queue=jobs', 'payload:={"n":12345678901234567890}']);
    expect(published).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('    "n": 12345678901234567890'),
    });
    expect(asked).toEqual(['POST /v1/queue/publish']);
    expect(statSync(join(home.path, '.cache/quartermaster')).mode & 0o777).toBe(0o700);
    await call('POST', '/v1/queue/purge/jobs');
  });

  test('names the command that was meant: also an old name, and a capability without `call`', async () => {
    const wrong: [string, string][] = [
      ['whoam', 'Did you mean `qm whoami`?'],
      ['acounts', 'Did you mean `qm accounts`?'],
      ['queue.publish', 'Did you mean `qm call queue.publish`?'],
      ['xyzzy', '`qm --help` lists all commands.'],
    ];
    const results = await Promise.all(wrong.map(([name]) => home.run([name])));
    const told = wrong.map(([name, hint]) => ({
      code: 2,
      stdout: '',
      stderr: `qm: unknown command "${name}". ${hint}\n`,
    }));
    expect(results).toMatchObject(told);
  });

  test('tells wrong input before anything is sent', async () => {
    const wrong: [string[], unknown][] = [
      [['queue.pubish'], 'qm: there is no capability "queue.pubish". Did you mean queue.publish?\n'],
      [['queue.peek', 'queue=jobs', 'limit=ten'], 'qm: limit must be an integer, not "ten"\n'],
      [['queue.peek', 'limit=3'], 'qm: queue is required\n'],
      [['queue.publish', 'queue=jobs', 'payload:={'], expect.stringMatching(/^qm: payload is not valid JSON: /)],
      [['queue.publish', 'queue=a', 'queue=b'], 'qm: queue is given twice\n'],
      [['queue.publish', 'jobs'], 'qm: "jobs" is no input: use field=value, field:=json, @file or -\n'],
      [['queue.list', '--idempotency-key', 'k'], 'qm: queue.list takes no idempotency key\n'],
    ];
    const results = await Promise.all(wrong.map(([args]) => home.run(['call', ...args])));
    expect(results).toEqual(wrong.map(([, stderr]) => ({ code: 2, stdout: '', stderr })));
    expect(asked).toEqual([]);
  });

  test('leaves names of fields to the service, which knows earlier ones and names the nearest', async () => {
    const { stdout } = await home.run(['call', 'account.keys.create', 'name=earlier', '--json']);
    const { key_id } = JSON.parse(stdout);
    const results = await Promise.all([
      home.run(['call', 'metrics.ingest', 'points:=[{"name":"jobs","value":1}]', '--json']),
      home.run(['call', 'account.keys.update', `id=${key_id}`, 'name=later', '--json']),
      home.run(['call', 'queue.publish', 'quue=jobs', 'payload:={}']),
    ]);
    expect(results.map(({ code }) => code)).toEqual([0, 0, 1]);
    expect(results[0]?.stdout).toContain('"accepted":1');
    expect(JSON.parse(results[1]?.stdout ?? '')).toMatchObject({ key_id, name: 'later' });
    expect(results[2]?.stderr).toContain('quue is not a field of queue.publish. Did you mean queue?');
  });

  test('tells fields within the width of a page, and streams what they are', async () => {
    const [fields, stream] = await Promise.all([
      home.run(['call', 'queue.create', '--help']),
      home.run(['call', 'logs.tail', '--help']),
    ]);
    for (const line of `${fields.stdout}${stream.stdout}`.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
    expect(stream.stdout).toContain('It is a stream: `qm call` prints a line for each event until you stop it.');
  });

  test('puts fields where the schema has them: path, query, nested, files, lists and standard input', async () => {
    writeFileSync(join(home.path, 'note.txt'), 'from a file');
    writeFileSync(join(home.path, 'input.json'), '{"queue":"jobs","headers":{"a":"1"}}');
    const args = [
      'queue.publish',
      '@input.json',
      'headers.b=2',
      'payload.note=@note.txt',
      'payload.at=\\@home',
      '--json',
    ];
    const { stdout } = await home.run(['call', ...args]);
    expect(JSON.parse(stdout)).toMatchObject({
      headers: { a: '1', b: '2' },
      payload: { note: 'from a file', at: '@home' },
    });
    const [peeked, acked] = await Promise.all([
      home.run(['call', 'queue.peek', 'queue=jobs', 'limit=10', '--json']),
      home.run(['call', 'queue.ack', '-', '--json'], {}, JSON.stringify({ queue: 'jobs', receipts: ['nonsense'] })),
    ]);
    expect(JSON.parse(peeked.stdout).items).toHaveLength(1);
    expect(peeked.stdout.match(/\n/g)).toHaveLength(1);
    expect(asked).toContain('GET /v1/queue/peek/jobs?limit=10');
    expect(acked).toMatchObject({ code: 0 });
    await call('POST', '/v1/queue/purge/jobs');
  });

  test('tells code, hint, request id, documentation and log of a failure, and ends with 1', async () => {
    const { code, stdout, stderr } = await home.run(['call', 'queue.get', 'queue=nothing']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^QUEUE_NOT_FOUND: .+\n {2}hint {8}.+\n {2}request_id {2}req_\w+\n {2}docs {8}http:.+\/docs\/errors\/QUEUE_NOT_FOUND\n {2}log {9}http:\S+\n$/,
    );
  });

  test('shows lists as a table, and what would steer a terminal as escapes', async () => {
    await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { text: '\u009b31m\u202e' } });
    const [queues, messages] = await Promise.all([
      home.run(['call', 'queue.list', '--table']),
      home.run(['call', 'queue.peek', 'queue=jobs']),
    ]);
    expect(queues.stdout).toMatch(/^NAME {2}TYPE .*\njobs {2}standard .*\n$/);
    expect(messages.stdout).toContain('"text": "\\u009b31m\\u202e"');
    await call('POST', '/v1/queue/purge/jobs');
  });

  test('sends the idempotency key: a second call has no second effect', async () => {
    const args = ['call', 'queue.publish', 'queue=jobs', 'payload.a=1', '--idempotency-key', 'once', '--json'];
    const first = await home.run(args);
    expect(JSON.parse(first.stdout).payload).toEqual({ a: '1' });
    expect(await home.run(args)).toEqual(first);
    await call('POST', '/v1/queue/purge/jobs');
  });

  test('a cache that cannot be written, or is damaged, keeps no call from being made', async () => {
    const file = join(home.path, 'a-file');
    writeFileSync(file, '');
    const unwritable = await home.run(['call', 'queue.list', '--json'], { XDG_CACHE_HOME: join(file, 'cache') });
    expect(unwritable).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: .+ cannot be kept: .+\n$/) });
    const cache = join(home.path, '.cache/quartermaster');
    for (const name of readdirSync(cache)) writeFileSync(join(cache, name), '{"format":');
    asked.length = 0;
    expect(await home.run(['call', 'queue.list', '--json'])).toMatchObject({ code: 0, stderr: '' });
    expect(asked).toEqual(['GET /.well-known/quartermaster.json', 'GET /v1/queue/list']);
  });

  test('what was kept is asked for again by its ETag when it is five minutes old', async () => {
    const cache = join(home.path, '.cache/quartermaster');
    const [name = ''] = readdirSync(cache);
    const before = statSync(join(cache, name)).ino;
    utimesSync(join(cache, name), new Date(), new Date(Date.now() - 301_000));
    await home.run(['call', 'queue.list']);
    await home.run(['call', 'queue.list']);
    expect(asked).toEqual(['GET /.well-known/quartermaster.json', 'GET /v1/queue/list', 'GET /v1/queue/list']);
    expect(statSync(join(cache, name)).ino).toBe(before);
  });

  test('lists capabilities, and describes one with its fields and price', async () => {
    const [all, one] = await Promise.all([home.run(['call']), home.run(['call', 'queue.publish', '--help'])]);
    expect(all.stdout).toMatch(/^queue\.publish +\S/m);
    expect(one.stdout).toMatch(/0\.00002 USD a message[\s\S]+^ {2}queue +string +required/m);
    expect(asked).toEqual([]);
  });
});

describe('address and key', () => {
  const profile = (text: string) => {
    mkdirSync(join(home.path, '.config/quartermaster'), { recursive: true });
    writeFileSync(join(home.path, '.config/quartermaster/profile.json'), text);
  };

  test('come from the profile; the variables win, and a key is not sent to another address', async () => {
    const none = { QM_URL: '', QM_KEY: '' };
    expect(await home.run(['whoami'], none)).toEqual({
      code: 78,
      stdout: '',
      stderr: 'qm: no API key: run `qm login --url URL`, or set QM_KEY and QM_URL\n',
    });
    profile(JSON.stringify({ url, key: door.account.secret }));
    const [whole, elsewhere, wrong, plain] = await Promise.all([
      home.run(['whoami', '--json'], none),
      home.run(['whoami'], { QM_URL: door.service.url, QM_KEY: '' }),
      home.run(['whoami'], { QM_URL: '', QM_KEY: `${door.account.secret}x` }),
      home.run(['whoami'], { QM_URL: 'http://service.example', QM_KEY: 'k' }),
    ]);
    expect(JSON.parse(whole.stdout)).toMatchObject({
      url,
      account_id: door.account.accountId,
      balance_usd: expect.any(Number),
    });
    expect(elsewhere).toMatchObject({ code: 78, stderr: expect.stringContaining('not of QM_URL') });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/^INVALID_API_KEY: /) });
    expect(plain).toMatchObject({ code: 78, stderr: 'qm: QM_URL must be https, or lead to this machine\n' });
    for (const { stdout, stderr } of [whole, elsewhere, wrong])
      expect(stdout + stderr).not.toContain(door.account.secret);
  });

  test('qm whoami shows account, key and scopes, and names what a narrow key may not see', async () => {
    const { body } = await call('POST', '/v1/account/keys/create', { name: 'worker', scopes: ['queue'] });
    const [whole, narrow] = await Promise.all([
      home.run(['whoami', '--json']),
      home.run(['whoami'], { QM_KEY: body.data.key_secret }),
    ]);
    expect(JSON.parse(whole.stdout)).toMatchObject({ key_id: door.account.keyId, scopes: ['*'], tier: 'standard' });
    expect(narrow.stdout).toMatch(/^account +not visible to this key \(needs account:read\)$/m);
    expect(whole.stdout + narrow.stdout).not.toContain(body.data.key_secret);
  });

  test('a service that is away, or is none, is told in a line', async () => {
    const other = createServer((_req, res) => res.writeHead(301, { location: 'https://example.com/' }).end()).listen(0);
    await once(other, 'listening');
    const at = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const [led, away] = await Promise.all([
      home.run(['whoami'], { QM_URL: at }),
      home.run(['whoami'], { QM_URL: 'http://127.0.0.1:1' }),
    ]);
    other.close();
    expect(led.stderr).toContain('status 301, which leads to https://example.com/');
    expect(away).toMatchObject({ code: 1, stderr: 'qm: no answer from http://127.0.0.1:1: connection refused\n' });
  });
});
