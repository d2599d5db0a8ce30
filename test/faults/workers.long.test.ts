// Several processes behind one port: what holds of one holds of all together, and the death of one is nobody's loss.
import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { Database } from '../../src/db/database.ts';
import type { Services } from '../../src/kit/services.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  childrenOf,
  createPlace,
  isAlive,
  isReady,
  launch,
  type Place,
  type ServiceProcess,
  signalProcess,
  startProcess,
  until,
  workersOf,
} from '../support/process.ts';
import { createTestAccount, SECRETS_KEY } from '../support/service.ts';
import { tally } from './pair.ts';
import { type Line, sendTo } from './workers-lines.ts';

const WORKERS = 3;
const METRICS_TOKEN = 'a-token-for-the-metrics-0123456789';
let database: TestDatabase;
let db: Database;
let place: Place;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection, connections: 4, hotConnections: 1 });
  // A proxy's connections stay with the process that accepted them, whosever calls they carry.
  const many = { WORKERS: String(WORKERS), TRUST_PROXY: 'loopback', METRICS_TOKEN };
  const env = { DATABASE_URL: database.url, SECRETS_KEY, RATE_LIMITS: 'on', ...many };
  place = await createPlace(env);
  service = await startProcess(place);
  await until(async () => (await workersAnswering()).size === WORKERS);
});
afterAll(async () => {
  await place?.remove();
  await db?.end();
  await database?.drop();
});

const send = sendTo(() => place);
const account = () => createTestAccount({ db, secrets: new Secrets(SECRETS_KEY) } as Services, 100);

/** One connection to each worker. */
async function lines(secret: string): Promise<[Line, Line, Line]> {
  const found = new Map<string, Line>();
  await until(async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { worker } = await send(agent, secret, 'GET', '/v1/account/balance');
    if (found.has(worker)) agent.destroy();
    else found.set(worker, { agent, worker });
    return found.size === WORKERS;
  });
  return [...found.values()] as [Line, Line, Line];
}

async function workersAnswering(): Promise<Set<string>> {
  const { secret } = await account();
  const agent = new Agent();
  const calls = Array.from({ length: 4 * WORKERS }, () => send(agent, secret, 'GET', '/v1/account/balance'));
  return new Set((await Promise.all(calls)).map(({ worker }) => worker));
}

const across = <T>(all: readonly Line[], calls: number, act: (line: Line, n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: calls }, (_, n) => act(all[n % all.length] as Line, n)));

describe('several processes behind one port', () => {
  test('background work runs on one of them', async () => {
    const text = `SELECT role, count(*)::int AS processes FROM core.process WHERE role <> 'cli' GROUP BY role ORDER BY role`;
    const { rows } = await db.query({ name: 'test_roles', text }, []);
    expect(rows).toEqual([
      { role: 'all', processes: 1 },
      { role: 'api', processes: WORKERS - 1 },
    ]);
  });

  test('an account has the burst of one process, whichever of them it calls', async () => {
    const { secret } = await account();
    const all = await lines(secret);
    const begunMs = performance.now();
    const answers = await across(all, 150, ({ agent }, n) =>
      send(agent, secret, 'POST', '/v1/queue/create', { name: `queue-${n}` }),
    );
    const seconds = (performance.now() - begunMs) / 1_000;
    const passed = answers.filter(({ status }) => status === 200).length;
    expect(tally(answers)).toEqual({ ok: passed, RATE_LIMITED: 150 - passed });
    expect(passed).toBeGreaterThanOrEqual(120);
    expect(passed).toBeLessThanOrEqual(120 + Math.ceil(2 * seconds));
  });

  test('the RateLimit field counts the calls that the others answered', async () => {
    const { secret } = await account();
    const left: number[] = [];
    for (const { agent } of await lines(secret)) {
      const { rate } = await send(agent, secret, 'POST', '/v1/queue/create', { name: `left${left.length}` });
      left.push(Number(/;r=(\d+)/.exec(rate)?.[1]));
    }
    expect(left).toEqual([119, 118, 117].map((least, n) => expect.closeTo(Math.max(least, left[n] as number), 0)));
    expect(left[2]).toBeLessThan(120 - 1);
  });

  test('an address has twenty failing logins in all', async () => {
    const { secret } = await account();
    const wrong = `${secret.slice(0, -1)}${secret.endsWith('x') ? 'y' : 'x'}`;
    const answers = await across(await lines(secret), 30, ({ agent }) =>
      send(agent, wrong, 'GET', '/v1/account/balance'),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  });

  test('a key that one of them has revoked is refused by all at once', async () => {
    const { secret } = await account();
    const all = await lines(secret);
    const { body } = await send(all[0].agent, secret, 'POST', '/v1/account/keys/create', { name: 'short-lived' });
    const { key_id: id, key_secret: short } = body.data;
    for (const { agent } of all) expect((await send(agent, short, 'GET', '/v1/account/balance')).status).toBe(200);
    const revoked = await send(all[1].agent, secret, 'DELETE', `/v1/account/keys/revoke/${id}`);
    expect(revoked.status).toBe(200);
    // 429 where this address has failed too often.
    for (const { agent } of all)
      expect([401, 429]).toContain((await send(agent, short, 'GET', '/v1/account/balance')).status);
  });

  test('calls with one idempotency key are one effect, on whichever of them they arrive', async () => {
    const { secret } = await account();
    const all = await lines(secret);
    await send(all[0].agent, secret, 'POST', '/v1/queue/create', { name: 'once' });
    const once = { queue: 'once', payload: { n: 1 } };
    const answers = await across(all, 30, ({ agent }) =>
      send(agent, secret, 'POST', '/v1/queue/publish', once, { 'idempotency-key': 'the-one' }),
    );
    expect(answers.map(({ status }) => status)).toEqual(new Array(30).fill(200));
    expect(new Set(answers.map(({ body }) => body.data.message_id)).size).toBe(1);
    const { body } = await send(all[1].agent, secret, 'GET', '/v1/account/usage');
    expect(JSON.stringify(body.data)).toContain('queue.publish');
    const stats = await send(all[2].agent, secret, 'GET', '/v1/queue/stats/once');
    expect(stats.body.data).toMatchObject({ message_count: 1 });
  });

  test('a consumer that waits on one of them gets what another publishes', async () => {
    const { secret } = await account();
    const all = await lines(secret);
    await send(all[0].agent, secret, 'POST', '/v1/queue/create', { name: 'waited' });
    for (const n of [1, 2, 3]) {
      const waiting = send(all[1].agent, secret, 'POST', '/v1/queue/consume', { queue: 'waited', wait_seconds: 15 });
      const published = await send(all[2].agent, secret, 'POST', '/v1/queue/publish', {
        queue: 'waited',
        payload: { n },
      });
      const { body } = await waiting;
      expect(body.data.items[0].message_id).toBe(published.body.data.message_id);
    }
  });

  test('one scrape tells the sums of all', async () => {
    const { secret } = await account();
    const all = await lines(secret);
    const metrics = async ({ agent }: Line) => (await send(agent, METRICS_TOKEN, 'GET', '/metrics')).text;
    const peeks = (text: string) =>
      Number(/^qm_calls_total\{capability="queue\.list",status="200"\} (\d+)/m.exec(text)?.[1] ?? 0);
    const before = peeks(await metrics(all[0]));
    await across(all, 12, ({ agent }) => send(agent, secret, 'GET', '/v1/queue/list'));
    for (const line of all) expect(peeks(await metrics(line))).toBe(before + 12);
    expect(await metrics(all[0])).toMatch(/^qm_lane_depth \d+$/m);
  });

  test('what one has counted of an account stands in the usage that another reads', async () => {
    const { secret } = await account();
    const all = await lines(secret);
    await across(all, 9, ({ agent }) => send(agent, secret, 'GET', '/v1/queue/list'));
    const { text } = await send(all[0].agent, secret, 'GET', '/v1/account/usage');
    expect(text).toContain('{"capability":"queue.list","count":9,');
  });

  test('after kill -9 of one of them nothing answered is lost, the others go on, and it is replaced', async () => {
    const { secret } = await account();
    const all = await lines(secret);
    const victim = Number(all[0].worker.split('-').at(-1));
    expect(childrenOf(service.pid)).toContain(victim);
    await send(all[1].agent, secret, 'POST', '/v1/queue/create', { name: 'kept' });
    const agent = new Agent({ keepAlive: true, maxSockets: 12 });
    let lost = 0;
    const publishing = Array.from({ length: 200 }, (_, n) => {
      if (n === 60) signalProcess(victim, 'SIGKILL');
      return send(agent, secret, 'POST', '/v1/queue/publish', { queue: 'kept', payload: { n } }).catch(() => {
        lost += 1;
        return null;
      });
    });
    const answered = (await Promise.all(publishing)).filter((answer) => answer?.status === 200);
    expect(answered.length + lost).toBe(200);
    agent.destroy();
    await until(async () => {
      const now = await workersAnswering();
      return now.size === WORKERS && !now.has(all[0].worker);
    });
    const { body } = await send(all[1].agent, secret, 'GET', '/v1/queue/stats/kept');
    expect(body.data.message_count).toBeGreaterThanOrEqual(answered.length);
    expect(body.data.message_count).toBeLessThanOrEqual(answered.length + lost);
  });

  test('when they end again and again at their start, all ends with code 1 and says so', async () => {
    const { pid } = service;
    const killing = setInterval(() => {
      try {
        for (const child of childrenOf(pid)) signalProcess(child, 'SIGKILL');
      } catch {
        clearInterval(killing);
      }
    }, 20);
    expect(await service.exited).toEqual({ code: 1, signal: null });
    clearInterval(killing);
    expect(service.stderr()).toMatch(
      /^quartermaster: worker \d ended 5 times within 10 s of its start; the last time: signal SIGKILL$/m,
    );
  });
});

describe('several processes with a PostgreSQL of their own', () => {
  let own: Place;
  let running: ServiceProcess;
  let firstStart: ServiceProcess;
  beforeAll(async () => {
    own = await createPlace({ WORKERS: '2' });
    firstStart = running = await startProcess(own);
  });
  afterAll(() => own?.remove());

  test('the start tells where the key is, once', async () => {
    await until(() => running.stdout().includes("Created the operator's account"));
  });

  test('another one on the port ends with one line', async () => {
    const other = await createPlace({ WORKERS: '2', PORT: String(own.port) });
    const started = launch(other);
    expect(await started.exited).toEqual({ code: 1, signal: null });
    expect(started.stderr()).toBe(
      `quartermaster: port ${own.port} on 127.0.0.1 is in use: stop the other program or set PORT\n`,
    );
    await other.remove();
  });

  test('after kill -9 of the first process the others end themselves, and the next start goes on', async () => {
    const workers = workersOf(running.pid);
    expect(workers).toHaveLength(2);
    await running.end('SIGKILL');
    await until(() => !workers.some(isAlive));
    running = await startProcess(own);
    expect(await isReady(own.url)).toBe(true);
  });

  test('Ctrl-C while they still start ends all in order', async () => {
    const other = await createPlace({ WORKERS: '2' });
    const started = launch(other);
    const workers = () => workersOf(started.pid);
    await until(() => workers().length === 2);
    const begun = workers();
    process.kill(-started.pid, 'SIGINT');
    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(started.stderr()).toBe('');
    expect([other.postgresPid() ?? 0, ...begun].some((pid) => pid > 0 && isAlive(pid))).toBe(false);
    await other.remove();
  });

  test('Ctrl-C, which the terminal sends to all of them, ends all in order', async () => {
    const postgres = own.postgresPid() as number;
    const workers = childrenOf(running.pid).filter((pid) => pid !== postgres);
    process.kill(-running.pid, 'SIGINT');
    expect(await running.exited).toEqual({ code: 0, signal: null });
    expect([postgres, ...workers].some(isAlive)).toBe(false);
    expect(running.stderr()).toBe('');
    // All that two starts have said: the first told it once, the second not again.
    expect(`${firstStart.stdout()}${running.stdout()}`.match(/Created the operator's account/g)).toHaveLength(1);
  });
});
