// How the process begins: what it prints, what it refuses with one line, and how long it takes.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import { createPlace, launch, type Place, PROJECT, startProcess, until } from '../support/process.ts';
import { client } from '../support/service.ts';
import { allowedMs, idleMsOf } from '../support/slowness.ts';

const run = promisify(execFile);
const COLD_START_MS = 3_000;
const WARM_START_MS = 1_500;
/** Test machines are shared and slow. */
const GENEROUS = 2;
const RSS_BYTES_MAX = 150 * 1024 * 1024;
const IDLE_WITHIN_MS = 30_000;

const places: Place[] = [];
const directories: string[] = [];
afterEach(async () => {
  await Promise.all(places.splice(0).map((place) => place.remove()));
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

async function newPlace(env: Record<string, string> = {}): Promise<Place> {
  const place = await createPlace(env);
  places.push(place);
  return place;
}

function newDirectory(prefix: string): string {
  const directory = mkdtempSync(join(tmpdir(), prefix));
  directories.push(directory);
  return directory;
}

/** A place where nothing has started yet. */
function emptyPlace(env: Record<string, string> = {}): Promise<Place> {
  return newPlace({ DATA_DIR: newDirectory('quartermaster-first-'), ...env });
}

describe('the first start', () => {
  test.each(['quartermaster-first-', "quartermaster with spaces and a ' "])(
    'prints curl lines that work as they stand (%s)',
    async (prefix) => {
      const place = await newPlace({ DATA_DIR: newDirectory(prefix), LOG_LEVEL: 'trace', RATE_LIMITS: 'on' });
      const service = await startProcess(place);
      await until(() => service.stdout().includes('/v1/queue/publish'));
      const lines = service.stdout().match(/^ {2}curl .+$/gm) ?? [];
      expect(lines).toHaveLength(2);
      for (const line of lines) {
        const { stdout } = await run('bash', ['-euc', line], { cwd: PROJECT });
        expect(JSON.parse(stdout)).toMatchObject({ ok: true });
      }
      expect(statSync(place.operatorKeyFile).mode & 0o777).toBe(0o600);
      expect(place.operatorKey()).toMatch(/^qm_live_\w{46}$/);
      expect(service.stdout() + service.stderr()).not.toContain(place.operatorKey().slice(8, 20));
    },
  );

  test('tells at once that it starts, then what it does, then a link that signs in once', async () => {
    const service = await startProcess(await emptyPlace());
    const { url } = service;
    await until(() => service.stdout().includes('/v1/queue/publish'));
    const text = service.stdout();
    expect(text).toMatch(
      /^Quartermaster is starting \.\.\.\nCreating a PostgreSQL database in .*\nStarting PostgreSQL \.\.\.\n/,
    );
    const link = /^ {2}Console +(\S+)$/m.exec(text)?.[1] as string;
    expect(link.startsWith(`${url}/auth/operator/`)).toBe(true);
    const use = () => fetch(link, { method: 'POST', redirect: 'manual', headers: { origin: url } });
    const signedIn = await use();
    expect([signedIn.status, signedIn.headers.get('set-cookie')]).toEqual([303, expect.stringContaining('=')]);
    expect((await use()).status).toBe(404);
  });

  test('answers neither / nor /readyz before the key is there', async () => {
    const place = await emptyPlace();
    const starting = launch(place);
    let answeredWith503 = false;
    await until(async () => {
      const statuses = await Promise.all(['/', '/readyz', '/llms.txt'].map((path) => statusOf(place.url + path)));
      answeredWith503 ||= statuses.includes(503);
      if (statuses.includes(200)) expect(existsSync(place.operatorKeyFile)).toBe(true);
      return statuses.every((status) => status === 200);
    });
    expect(answeredWith503).toBe(true);
    await starting.end('SIGTERM');
  }, 90_000);

  test('names a variable that looks like a setting or has another name now, and prints no link where others may read it', async () => {
    const place = await newPlace({
      SMTP_ULR: 'smtp://there',
      DNS_SERVERS: '127.0.0.1:1',
      BASE_URL: 'https://q.example.org',
      WORKERS: '2',
    });
    const service = await startProcess(place);
    await until(() => service.stdout().includes('/v1/queue/publish'));
    const text = service.stdout();
    expect(text.match(/SMTP_ULR is not a setting: did you mean SMTP_URL\?/g)).toHaveLength(1);
    expect(text.match(/DNS_SERVERS is called DNS_RESOLVERS now: rename it\./g)).toHaveLength(1);
    expect(text).not.toContain('/auth/operator/');
    expect(text).not.toContain('Creating');
  });

  test('makes the operator once: the second start changes neither key nor account', async () => {
    const place = await newPlace();
    await (await startProcess(place)).end('SIGTERM');
    const key = place.operatorKey();
    const again = await startProcess(place);
    expect(place.operatorKey()).toBe(key);
    expect(again.stdout()).not.toContain('Created');
    expect((await client(place.url, key)('GET', '/v1/account/balance')).body.data.balance_usd).toBe(2);
  });
});

/** 0 while nothing listens. */
async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url).catch(() => null);
  await answer?.body?.cancel();
  return answer?.status ?? 0;
}

/** One line on stderr, the exit code, and no PostgreSQL left behind. */
async function expectRefusal(place: Place, env: Record<string, string>, code: number, line: RegExp): Promise<void> {
  const service = launch(place, env);
  expect(await service.exited).toEqual({ code, signal: null });
  expect(service.stderr().split('\n')).toEqual([expect.stringMatching(line), '']);
  expect(service.stderr()).toMatch(/^quartermaster: /);
}

describe('a start that cannot succeed says why in one line and leaves nothing running', () => {
  test('a port in use', async () => {
    const place = await newPlace();
    const other = createServer().listen(place.port, '127.0.0.1');
    await once(other, 'listening');
    await expectRefusal(place, {}, 1, new RegExp(`port ${place.port} .*in use`));
    other.close();
    expect(place.postgresPid()).toBeUndefined();
  });

  test('a data directory that cannot be made', async () => {
    const file = join(newDirectory('quartermaster-file-'), 'file');
    writeFileSync(file, '');
    const place = await emptyPlace();
    await expectRefusal(place, { DATA_DIR: join(file, 'data') }, 1, /cannot use the data directory .*not a directory/);
  });

  test.each([
    ['PORT', 'eighty'],
    ['SECRETS_KEY', 'short'],
    ['ROLES', 'king'],
    ['DATABASE_URL', 'mysql://here'],
  ])('a wrong setting: %s=%s', async (name, value) => {
    await expectRefusal(await emptyPlace(), { [name]: value }, 78, new RegExp(`${name} must`));
  });

  test('a DATABASE_URL where nothing answers', async () => {
    const place = await emptyPlace();
    await expectRefusal(
      place,
      { DATABASE_URL: 'postgresql://u:hunter2@127.0.0.1:1/d' },
      1,
      /DATABASE_URL: (?!.*hunter2)/,
    );
  });

  test('another SECRETS_KEY, then a newer schema', { timeout: 60_000 }, async () => {
    const place = await newPlace();
    await (await startProcess(place)).end('SIGTERM');
    await expectRefusal(place, { SECRETS_KEY: 'not the one of the first start' }, 1, /server secret is not the one/);
    expect(place.postgresPid()).toBeUndefined();
    const service = await startProcess(place);
    await withClient(readConnection(place.dataDir) as Connection, (session) =>
      session.query(`INSERT INTO core.migration (version, name, checksum) VALUES (9999, 'later', '')`),
    );
    await service.end('SIGTERM');
    await expectRefusal(place, {}, 1, /schema version 9999, this release knows only/);
    expect(place.postgresPid()).toBeUndefined();
  });

  test('vectors in a database that has no pgvector', async () => {
    const place = await newPlace();
    await expectRefusal(place, { VECTOR_ENGINE: 'pgvector' }, 1, /VECTOR_ENGINE: pgvector needs the extension vector/);
    expect(place.postgresPid()).toBeUndefined();
  });

  test('a second service on the data directory; the first goes on', async () => {
    const first = await newPlace();
    const service = await startProcess(first);
    const postgres = first.postgresPid();
    const second = await newPlace({ DATA_DIR: first.dataDir });
    await expectRefusal(second, {}, 1, /in use by another running service/);
    expect(first.postgresPid()).toBe(postgres);
    const call = client(first.url, first.operatorKey());
    expect((await call('GET', '/v1/account/balance')).status).toBe(200);
    expect((await service.end('SIGTERM')).code).toBe(0);
  });
});

test.each([100, 500, 1_500])(
  'Ctrl-C %i ms after the first start leaves nothing running',
  { timeout: 60_000 },
  async (afterMs) => {
    const fresh = await emptyPlace();
    try {
      const starting = launch(fresh);
      await sleep(afterMs);
      process.kill(-starting.pid, 'SIGINT');
      const { code, signal } = await starting.exited;
      expect([0, 1, 'SIGINT']).toContain(code ?? signal);
      expect(fresh.postgresPid()).toBeUndefined();
      expect(starting.stderr()).not.toMatch(/ at .*:\d+/);
      const again = await startProcess(fresh);
      expect((await again.end('SIGTERM')).code).toBe(0);
    } finally {
      await fresh.remove();
    }
  },
);

test('a start that fails after a signal ends with 0, and the log says why', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined))).listen(
    0,
    '127.0.0.1',
  );
  await once(silent, 'listening');
  const DATABASE_URL = `postgresql://nobody@127.0.0.1:${(silent.address() as AddressInfo).port}/none`;
  const place = await emptyPlace({ DATABASE_URL, LOG_LEVEL: 'info' });
  const starting = launch(place);
  await until(() => sockets.length > 0);
  process.kill(starting.pid, 'SIGTERM');
  await until(() => starting.stdout().includes('"stopping"'));
  silent.close();
  for (const socket of sockets) socket.destroy();
  expect(await starting.exited).toEqual({ code: 0, signal: null });
  expect(starting.stdout()).toMatch(/"reason":"[^"]*database[^"]*","msg":"stopped before it had started"/i);
  expect(starting.stderr()).toBe('');
});

// The first start finds an empty compile cache, the second what the first one left.
test('starts quickly and stays small', { timeout: 120_000 }, async () => {
  const NODE_COMPILE_CACHE = newDirectory('compile-cache-');
  const place = await emptyPlace({ LOG_LEVEL: 'info', NODE_COMPILE_CACHE });
  const cold = await idleMsOf(() => startToFirstMessage(place));
  expect((await cold.value.end('SIGTERM')).code).toBe(0);
  const warm = await idleMsOf(() => startToFirstMessage(place));
  // An idle process gives back the memory that its start took. On a busy machine it is idle later.
  if (process.platform === 'linux')
    await expect.poll(() => rssBytes(warm.value.pid), { timeout: IDLE_WITHIN_MS }).toBeLessThan(RSS_BYTES_MAX);
  const megabytes = Math.round(rssBytes(warm.value.pid) / 1024 / 1024);
  const [coldMs, warmMs] = [cold.idleMs, warm.idleMs].map(Math.round) as [number, number];
  console.log(`first message answered after ${coldMs} ms cold, ${warmMs} ms warm; idle RSS ${megabytes} MB`);
  expect(coldMs).toBeLessThan(allowedMs(COLD_START_MS * GENEROUS));
  expect(warmMs).toBeLessThan(allowedMs(WARM_START_MS * GENEROUS));
});

/** From the start of the process to the answer of a publish, the queue made first where there is none. */
async function startToFirstMessage(place: Place) {
  const service = await startProcess(place);
  const call = client(place.url, place.operatorKey());
  const message = { queue: 'jobs', payload: { n: 1 } };
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  expect((await call('POST', '/v1/queue/publish', message)).status).toBe(200);
  return service;
}

function rssBytes(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
}
