// What docs/webhooks.md tells people to paste works as it stands: each receiver, and the way to try them.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort, PROJECT } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { LOCAL_TARGETS, until, WebhookCaller } from './api-harness.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
/** What the receivers import. */
const packages = { standardwebhooks: 'node_modules/standardwebhooks', 'quartermaster-client': 'clients/typescript' };
const hasPython = spawnSync('python3', ['--version']).status === 0;
let service: TestService;
let own: WebhookCaller;
let key: string;
let directory: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  service = await startTestService({ env: LOCAL_TARGETS });
  own = await WebhookCaller.of(service);
  key = own.secret;
  directory = mkdtempSync(join(tmpdir(), 'quartermaster-receivers-'));
  mkdirSync(join(directory, 'node_modules'));
  for (const [name, at] of Object.entries(packages))
    symlinkSync(join(PROJECT, at), join(directory, 'node_modules', name));
  mkdirSync(join(directory, 'data'));
  writeFileSync(join(directory, 'data/operator.key'), `${key}\n`);
});
afterAll(async () => {
  for (const { pid } of children) if (pid !== undefined) signalGroup(pid);
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** A script's background jobs live in its group. */
function signalGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
}

function blocks(page: string, language: string): string[] {
  const source = readFileSync(join(PROJECT, page), 'utf8');
  return [...source.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code]) => code as string,
  );
}

const languages = { mjs: 'js', mts: 'ts', py: 'python' } as const;

/** The code block of the page that begins with a comment of its name. */
function program(page: string, name: string): string {
  const language = languages[name.split('.').at(-1) as keyof typeof languages];
  const head = `${language === 'python' ? '#' : '//'} ${name}\n`;
  const found = blocks(page, language).filter((code) => code.startsWith(head));
  expect(found, `${page}: ${name}`).toHaveLength(1);
  return found[0] as string;
}

/** Starts a command in the directory of the receivers; answers what it has printed so far. */
function start(command: string, args: readonly string[], env: Record<string, string>): () => string {
  const { PATH = '' } = process.env;
  const child = spawn(command, args, {
    cwd: directory,
    env: { PATH: `${join(PROJECT, 'node_modules/.bin')}:${PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  children.push(child);
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  return () => printed;
}

async function listening(port: number): Promise<void> {
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  await until(answers, `a receiver on port ${port}`);
}

describe.each([
  ['docs/webhooks.md', 'receiver.mts'],
  ...(hasPython ? [['docs/webhooks.md', 'receiver.py']] : []),
  ['docs/webhooks.md', 'receiver.mjs'],
  ['docs/webhooks.md', 'receiver-with-library.mjs'],
] as [string, string][])('%s: %s', (page, name) => {
  let port: number;
  let printed: () => string;

  beforeAll(async () => {
    port = await freePort();
    writeFileSync(join(directory, name), program(page, name));
    const PYTHONPATH = join(PROJECT, 'clients/python');
    const command = name.endsWith('.py') ? 'python3' : 'node';
    printed = start(command, [name], { WEBHOOK_SECRET: SECRET, PORT: String(port), PYTHONPATH });
    await listening(port);
  });

  test('takes what the service signed, also while the secret is changed', async () => {
    const { webhook_id: id } = await own.register(`http://127.0.0.1:${port}/`, { secret: SECRET });
    const delivery = await own.test(id, { message_id: 'qmsg_sample' });
    expect(delivery).toMatchObject({ status: 'succeeded', http_status: 204 });
    await until(() => printed().includes(delivery.event_id), 'the event is printed');
    expect(printed()).toMatch(/queue\.dlq \{ ?'?message_id'?: 'qmsg_sample' ?\}/);
    await own.update(id, { secret: null });
    expect(await own.test(id)).toMatchObject({ http_status: 204 });
  });

  test('refuses what somebody else signed, changed, or kept for later', async () => {
    const { webhook_id: id } = await own.register(`http://127.0.0.1:${port}/`);
    expect(await own.test(id)).toMatchObject({ status: 'failed', http_status: 401 });
    const send = async (secondsAgo: number, sent: string, headers: Record<string, string> = {}) => {
      const at = new Date(Date.now() - secondsAgo * 1000);
      const signature = new Webhook(SECRET).sign('evt_1', at, '{"data":{}}');
      const signed = {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signature,
        ...headers,
      };
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: signed, body: sent })).status;
    };
    expect(await send(0, '{"data":{}}')).toBe(204);
    expect(await send(0, '{"data":{} }')).toBe(401);
    expect(await send(400, '{"data":{}}')).toBe(401);
    expect(await send(-400, '{"data":{}}')).toBe(401);
    expect(await send(0, '{"data":{}}', { 'webhook-id': 'evt_2' })).toBe(401);
    expect(await send(0, '{"data":{}}', { 'webhook-signature': 'v1,short' })).toBe(401);
  });
});

test('a request without any signature is refused', async () => {
  const port = await freePort();
  writeFileSync(join(directory, 'receiver.mjs'), program('docs/webhooks.md', 'receiver.mjs'));
  start('node', ['receiver.mjs'], { WEBHOOK_SECRET: SECRET, PORT: String(port) });
  await listening(port);
  expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' })).status).toBe(401);
});

test('the commands to try it register a webhook and reach the receiver', async () => {
  const page = 'docs/webhooks.md';
  const port = await freePort();
  const script = blocks(page, 'sh')
    .filter((code) => /WEBHOOK_SECRET|WEBHOOK_ID/.test(code))
    .join('');
  const [before, after] = script
    .replaceAll('http://127.0.0.1:8787', service.url)
    .replaceAll('http://127.0.0.1:9000', `http://127.0.0.1:${port}`)
    .split(/(?=^curl .*\/test\/WEBHOOK_ID)/m);
  writeFileSync(join(directory, 'receiver.mjs'), program(page, 'receiver.mjs'));
  const registered = start('bash', ['-c', before as string], { PORT: String(port) });
  await until(() => registered().includes('"ok":'), 'the webhook is registered');
  await listening(port);
  const { data } = JSON.parse(/^\{.*\}$/m.exec(registered())?.[0] ?? '');
  const tried = spawn('bash', ['-c', (after as string).replace('WEBHOOK_ID', data.webhook_id)], {
    env: { ...process.env, QM_KEY: key },
  });
  const delivery = JSON.parse(await text(tried.stdout)).data;
  expect(delivery).toMatchObject({ webhook_id: data.webhook_id, status: 'succeeded', http_status: 204 });
  await until(() => registered().includes(`${delivery.event_id} queue.dlq`), 'the event is printed');
});
