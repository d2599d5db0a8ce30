// What follows a service, opens it and completes its names: the real command against a real service.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import release from '../../package.json' with { type: 'json' };
import { PROJECT } from '../support/process.ts';
import type { QmHome } from '../support/qm.ts';
import { type Client, createTestAccount } from '../support/service.ts';
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

test('qm queue tail begins with the newest messages, not with the ten oldest', async () => {
  const items = Array.from({ length: 15 }, (_, n) => ({ payload: { old: n } }));
  await call('POST', '/v1/queue/batch/publish', { queue: 'jobs', items });
  const tail = home.start(['queue', 'tail', 'jobs']);
  await expect.poll(tail.stdout).toContain('{"old":14}');
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 'new' } });
  await expect.poll(tail.stdout).toContain('{"n":"new"}');
  tail.child.kill('SIGINT');
  await tail.ended;
  const shown = [...tail.stdout().matchAll(/"(?:old|n)":(\d+|"new")/g)].map(([, each]) => each);
  expect(shown).toEqual(['5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '"new"']);
  await call('POST', '/v1/queue/purge/jobs');
});

test('qm logs tail prints records as they are stored, and qm call follows the same stream', async () => {
  const tail = home.start(['logs', 'tail', '--level', 'error', '--filter', 'provider=acme']);
  const called = home.start(['call', 'logs.tail', 'level=error']);
  const record = { level: 'error', service: 'checkout', message: 'it broke', attributes: { provider: 'acme' } };
  // The first ones may come before the streams are open.
  await expect
    .poll(async () => {
      await call('POST', '/v1/logs/ingest', { items: [{ level: 'info', message: 'fine' }, record] });
      return [tail.stdout(), called.stdout()].map((text) => text.includes('it broke'));
    })
    .toEqual([true, true]);
  for (const { child, ended } of [tail, called]) {
    child.kill('SIGINT');
    await ended;
  }
  expect(tail.stdout()).toMatch(/^\S+Z {2}ERROR {2}checkout {2}it broke {2}provider="acme"\n/);
  expect(tail.stdout()).not.toContain('fine');
  expect(JSON.parse(called.stdout().split('\n')[0] ?? '')).toMatchObject({ message: 'it broke', level: 'error' });
});

test('qm queue tail shows messages as they come, and takes none', async () => {
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 1 } });
  const tail = home.start(['queue', 'tail', 'jobs']);
  await expect.poll(tail.stdout).toContain('{"n":1}');
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 2 } });
  await expect.poll(tail.stdout).toContain('{"n":2}');
  tail.child.kill('SIGINT');
  await tail.ended;
  expect(tail.stdout().match(/qmsg_/g)).toHaveLength(2);
  const { body } = await call('POST', '/v1/queue/consume', { queue: 'jobs', max_messages: 10 });
  expect(body.data.items.map(({ delivery_count }: { delivery_count: number }) => delivery_count)).toEqual([1, 1]);
  await call('POST', '/v1/queue/purge/jobs');
});

test('qm requests tail prints calls that fail as they end, get all of one; a key that may not read them is told so', async () => {
  const tail = home.start(['requests', 'tail', '--code', 'QUEUE_NOT_FOUND']);
  await expect.poll(() => asked).toContain('GET /v1/account/requests/tail?code=QUEUE_NOT_FOUND');
  const ids: string[] = [];
  // The first ones may come before the stream is open.
  await expect
    .poll(async () => {
      const { body } = await call('GET', '/v1/queue/get/nothing');
      ids.push(body.error.request_id);
      return tail.stdout();
    })
    .toMatch(/^\S+Z {2}404 QUEUE_NOT_FOUND {2}queue\.get {2}key_\w+ {2}\d+ ms {2}req_\w+ {2}\S.*\n/);
  tail.child.kill('SIGINT');
  await tail.ended;
  const shown = /req_\w+/.exec(tail.stdout())?.[0] ?? '';
  expect(ids).toContain(shown);
  const { body } = await call('POST', '/v1/account/keys/create', { scopes: ['queue'] });
  const [one, narrow] = await Promise.all([
    home.run(['requests', 'get', shown, '--json']),
    home.run(['requests', 'tail'], { QM_KEY: body.data.key_secret }),
  ]);
  expect(JSON.parse(one.stdout)).toMatchObject({ request_id: shown, path: '/v1/queue/get/nothing', status: 404 });
  expect(narrow).toMatchObject({ code: 1, stderr: expect.stringMatching(/^INSUFFICIENT_SCOPE: /) });
});

test('qm open prints the address where there is no browser', async () => {
  expect(await home.run(['open', 'queues/jobs'])).toEqual({
    code: 0,
    stdout: `${url}/console/queues/jobs\n`,
    stderr: '',
  });
});

test('help shows both groups; old names work, and `qm admin` has the same commands', async () => {
  const [help, version, old, grouped] = await Promise.all(
    [['--help'], ['--version'], ['gen'], ['admin', 'gen']].map((args) => home.run(args)),
  );
  expect(help?.stdout).toMatch(/^ {2}call +\S[\s\S]+^ {2}admin accounts +\S/m);
  expect(version?.stdout).toBe(`${release.version}\n`);
  for (const made of [old, grouped])
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S{40,}\n$/) });
});

/** A shell whose PATH has a link to bin/qm. */
function shellEnv() {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const bin = join(home.path, 'bin');
  mkdirSync(bin, { recursive: true });
  if (!existsSync(join(bin, 'qm'))) symlinkSync(join(PROJECT, 'bin/qm'), join(bin, 'qm'));
  return { PATH: `${bin}:${PATH}`, NODE_COMPILE_CACHE, HOME: home.path, QM_URL: url, QM_KEY: door.account.secret };
}

test('the first call of docs/cli.md does its work', async () => {
  const [, block = ''] = /\n```bash\n([\s\S]*?)```/.exec(readFileSync(join(PROJECT, 'docs/cli.md'), 'utf8')) ?? [];
  const { secret } = await createTestAccount(door.service.core, 5);
  const env = { ...shellEnv(), QM_KEY: secret };
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', block], { env });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/"payload":\{"task": ?"resize", ?"image": ?17\}/);
});

test('completion in bash offers commands, capabilities, fields and values, without the network', async () => {
  const lines = [
    'qm wh',
    'qm call queue.pu',
    'qm call queue.create ty',
    'qm call queue.create type=f',
    'qm admin keys rev',
    'qm queue ',
  ];
  const script = `eval "$(qm completion bash)"
    for line in ${lines.map((line) => `'${line}'`).join(' ')}; do
      COMP_LINE="$line" COMP_POINT=\${#line}; _qm; echo "\${COMPREPLY[*]}"
    done`;
  const bash = spawn('bash', ['--norc', '-c', script], {
    env: shellEnv(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const offered = (await bash.stdout.toArray()).join('').trimEnd().split('\n');
  expect(offered).toEqual(['whoami', 'queue.purge queue.publish', 'type=', 'fifo', 'revoke', 'tail --help']);
  expect(asked).toEqual([]);
});

const hasFish = spawnSync('fish', ['--version']).status === 0;

test.skipIf(!hasFish)('completion in fish (where fish is installed) offers the same', async () => {
  const lines = ['qm wh', 'qm call queue.create type='].map((line) => `complete -C '${line}'`);
  const script = ['qm completion fish | source', ...lines].join('; ');
  const { stdout } = await promisify(execFile)('fish', ['--no-config', '-c', script], { env: shellEnv() });
  expect(stdout.trim().split('\n')).toEqual(['whoami', 'type=fifo', 'type=standard']);
});
