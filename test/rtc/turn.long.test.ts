// coturn, Debian's TURN server, takes our credentials by itself: the two share a secret and nothing else.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { iceServersFor } from '../../src/modules/rtc/ice-servers.ts';
import { eventually } from '../cron/harness.ts';
import { freePort } from '../s3/harness.ts';

const SERVER = '/usr/bin/turnserver';
const CLIENT = '/usr/bin/turnutils_uclient';
const isInstalled = existsSync(SERVER) && existsSync(CLIENT);
const name = isInstalled ? 'coturn' : 'coturn (skipped: apt-get install coturn)';
const secret = 'a secret that two servers share';

let folder: string;
let port: number;
let server: ChildProcess;
beforeAll(async () => {
  if (!isInstalled) return;
  folder = await mkdtemp(join(tmpdir(), 'qm-coturn-'));
  port = await freePort();
  const args = [
    '-n',
    '--use-auth-secret',
    `--static-auth-secret=${secret}`,
    '--realm=example.com',
    '--no-tls',
    '--no-dtls',
  ];
  args.push(
    '--listening-ip=127.0.0.1',
    `--listening-port=${port}`,
    '--relay-ip=127.0.0.1',
    '--allow-loopback-peers',
    '--no-cli',
  );
  args.push(`--pidfile=${join(folder, 'pid')}`, `--userdb=${join(folder, 'db')}`, '--log-file=stdout', '--simple-log');
  server = spawn(SERVER, args, { stdio: 'ignore', cwd: folder });
  await eventually(() => isListening());
});
afterAll(async () => {
  if (!isInstalled) return;
  server.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

function isListening(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Relays two messages by TCP to the server's own echo; what the client prints. */
async function relay({ username = '', credential = '' }): Promise<string> {
  const args = ['-t', '-y', '-n', '2', '-m', '1', '-p', String(port), '-u', username, '-w', credential, '127.0.0.1'];
  const { stdout, stderr } = await promisify(execFile)(CLIENT, args, { timeout: 20_000 }).catch((error) => error);
  return `${stdout}${stderr}`;
}

const turn = { urls: ['turn:127.0.0.1'], stunUrls: [], secret };
const credentialOf = (of: typeof turn, inMs: number) => iceServersFor(of, 'acct_1.ana', Date.now() + inMs)[0] ?? {};

test.skipIf(!isInstalled)(
  `${name} relays for a credential of ours`,
  async () => {
    expect(await relay(credentialOf(turn, 60_000))).toMatch(/Total lost packets 0/);
  },
  60_000,
);

test.skipIf(!isInstalled).each([
  ['has ended', () => credentialOf(turn, -60_000)],
  ['was signed with another secret', () => credentialOf({ ...turn, secret: 'another secret entirely' }, 60_000)],
  ['says a later end than was signed', () => ({ ...credentialOf(turn, 60_000), username: `${9e9}:acct_1.ana` })],
])(
  `${name} refuses one that %s`,
  async (_what, credential) => {
    expect(await relay(credential())).not.toMatch(/Total lost packets 0/);
  },
  60_000,
);
