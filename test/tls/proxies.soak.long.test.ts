// deploy/nginx.conf and deploy/Caddyfile before a service: calls, streams, long polls, WebSockets and long bodies pass. They need Debian's
// packages nginx and caddy, or NGINX_PATH and CADDY_PATH; without them these tests are skipped.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { selfSigned } from '../outbound/certificate.ts';
import { emptyParlor, parlorModule } from '../sockets/parlor.ts';
import { freePort, PROJECT } from '../support/process.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';
import { ask, h2 } from './h2.ts';

const MIB = 1024 * 1024;
const LONG_BODY_MIB = isSoak ? 5 * 1024 : 96;
const programs = {
  nginx: process.env.NGINX_PATH ?? '/usr/sbin/nginx',
  caddy: process.env.CADDY_PATH ?? '/usr/bin/caddy',
};

interface Front {
  readonly program: string;
  readonly args: readonly string[];
}

interface Ports {
  readonly tls: number;
  readonly plain: number;
  readonly service: number;
}

const config = (name: string) => readFileSync(join(PROJECT, 'deploy', name), 'utf8');

function nginx(folder: string, ports: Ports): Front {
  const site = config('nginx.conf')
    .replace('server 127.0.0.1:8787', `server 127.0.0.1:${ports.service}`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${ports.tls} ssl`)
    .replace('listen 80', `listen 127.0.0.1:${ports.plain}`)
    .replace(/\/etc\/letsencrypt\/live\/qm\.example\.com\/fullchain\.pem/, join(folder, 'cert.pem'))
    .replace(/\/etc\/letsencrypt\/live\/qm\.example\.com\/privkey\.pem/, join(folder, 'key.pem'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const main = `daemon off; error_log stderr; pid ${folder}/pid; events {} http { access_log off; ${temporary.join(' ')}\n${site}\n}`;
  writeFileSync(join(folder, 'nginx.conf'), main);
  return { program: programs.nginx, args: ['-c', join(folder, 'nginx.conf'), '-p', folder] };
}

function caddy(folder: string, ports: Ports): Front {
  const site = config('Caddyfile')
    .replace('qm.example.com {', `https://localhost:${ports.tls} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`)
    .replace('127.0.0.1:8787', `127.0.0.1:${ports.service}`);
  writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\thttp_port ${ports.plain}\n}\n${site}`);
  return { program: programs.caddy, args: ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'] };
}

async function withFront(make: typeof nginx, use: (at: Bench) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-front-'));
  mkdirSync(join(folder, 'logs'));
  const { cert, key } = selfSigned(['localhost'], ['127.0.0.1']);
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  const [tls, plain] = [await freePort(), await freePort()];
  const url = `https://localhost:${tls}`;
  const env = { TRUST_PROXY: 'loopback', BASE_URL: url, PORT: String(await freePort()) };
  const service = await startTestService({ env, extraModules: [parlorModule(emptyParlor())] });
  const front = make(folder, { tls, plain, service: Number(env.PORT) });
  const child = spawn(front.program, front.args, { env: { HOME: folder }, stdio: 'ignore' });
  const agent = new Agent({ connect: { ca: cert }, headersTimeout: 0, bodyTimeout: 0 });
  try {
    await listening(url, agent, child);
    await use({ url, cert, agent, service, account: await createTestAccount(service.core) });
  } finally {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    await agent.destroy();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Bench {
  readonly url: string;
  readonly cert: string;
  readonly agent: Agent;
  readonly service: TestService;
  readonly account: TestAccount;
}

async function listening(url: string, dispatcher: Agent, child: ChildProcess): Promise<void> {
  for (;;) {
    expect(child.exitCode).toBeNull();
    const answer = await request(`${url}/healthz`, { dispatcher }).catch(() => null);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return;
    await sleep(50);
  }
}

async function send({ url, agent, account }: Bench, path: string, body: object) {
  const headers = { authorization: `Bearer ${account.secret}`, 'content-type': 'application/json' };
  return request(url + path, { method: 'POST', headers, body: JSON.stringify(body), dispatcher: agent });
}

/** Made as it is sent. */
async function* longBody(digest: Hash): AsyncGenerator<Buffer> {
  for (let i = 0; i < LONG_BODY_MIB; i++) {
    const piece = Buffer.alloc(MIB, i);
    digest.update(piece);
    yield piece;
  }
}

async function all(bench: Bench): Promise<void> {
  const { url, cert, agent, account } = bench;
  const authorization = `Bearer ${account.secret}`;
  const json = async (path: string, body: object) =>
    (await send(bench, path, body)).body.json() as Promise<{ data: Record<string, unknown> }>;
  await json('/v1/queue/create', { name: 'jobs' });
  const session = h2(url, cert);
  expect((await ask(session, { ':method': 'GET', ':path': '/v1/account/tier', authorization })).status).toBe(200);
  session.close();

  const { body: tail } = await request(`${url}/v1/account/requests/tail`, {
    headers: { authorization },
    dispatcher: agent,
  });
  let told = '';
  tail.setEncoding('utf8').on('data', (piece: string) => {
    told += piece;
  });
  await expect.poll(() => told).toContain(': the request log');
  await json('/v1/queue/ack', { queue: 'none', receipt_handle: 'none' });
  await expect.poll(() => told).toContain('/v1/queue/ack');
  tail.on('error', () => undefined).destroy();

  const begunMs = performance.now();
  expect(await json('/v1/queue/consume', { queue: 'jobs', wait_seconds: isSoak ? 20 : 5 })).toMatchObject({
    data: { items: [] },
  });
  expect(performance.now() - begunMs).toBeGreaterThan(4_900);

  const ws = new WebSocket(`${url.replace('https', 'wss')}/parlor/red?token=${account.secret}`, { ca: cert });
  await once(ws, 'open');
  ws.send('hello');
  expect(String((await once(ws, 'message'))[0])).toBe('hello');
  ws.close();
  await once(ws, 'close');

  const [sent, received] = [createHash('sha256'), createHash('sha256')];
  await json('/v1/storage/bucket/create', { bucket: 'things' });
  const headers = { authorization, 'content-length': String(LONG_BODY_MIB * MIB) };
  const put = await request(`${url}/v1/storage/upload/things/long`, {
    method: 'PUT',
    headers,
    body: Readable.from(longBody(sent)),
    dispatcher: agent,
  });
  expect({ status: put.statusCode, said: put.statusCode === 200 ? '' : await put.body.text() }).toEqual({
    status: 200,
    said: '',
  });
  await put.body.dump();
  const signed = await json('/v1/storage/presign', { bucket: 'things', key: 'long', method: 'GET' });
  const got = await request(signed.data.url as string, { dispatcher: agent });
  for await (const piece of got.body) received.update(piece as Buffer);
  expect(received.digest('hex')).toBe(sent.digest('hex'));
}

describe.each([
  ['nginx', nginx],
  ['caddy', caddy],
] as const)('before a service %s', (name, make) => {
  test.skipIf(!existsSync(programs[name]))(
    `passes calls, streams, long polls, WebSockets and a body of ${LONG_BODY_MIB} MiB (Debian's package ${name})`,
    () => withFront(make, all),
    900_000,
  );
});
