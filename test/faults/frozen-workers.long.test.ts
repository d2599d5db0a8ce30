// A worker that hangs is nobody's loss for long, and none outlives the service.
import { once } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createPlace,
  freePort,
  isAlive,
  isReady,
  type Place,
  PROJECT,
  type ServiceProcess,
  signalProcess,
  startProcess,
  until,
  workersOf,
} from '../support/process.ts';
import { allowedMs } from '../support/slowness.ts';
import { type Line, sendTo } from './workers-lines.ts';

/** Of each step, for a machine that is busy with other things. */
const PATIENCE_MS = 120_000;
const QUICK = join(import.meta.dirname, 'quick-workers.ts');
let place: Place;
let service: ServiceProcess;
let frozen: Line;
let well: Line;

beforeEach(async () => {
  // A proxy's connections stay with the process that accepted them.
  place = await createPlace({ WORKERS: '2', TRUST_PROXY: 'loopback', LOG_LEVEL: 'error' });
  service = await startProcess(place, { NODE_OPTIONS: `--inspect-port=${await freePort()}` }, PROJECT, QUICK);
  const found = new Map<string, Line>();
  await until(async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { worker } = await send(agent, place.operatorKey(), 'GET', '/v1/account/balance');
    found.set(worker, { agent, worker });
    return found.size === 2;
  }, PATIENCE_MS);
  [frozen, well] = [...found.values()] as [Line, Line];
}, PATIENCE_MS);
afterEach(async () => {
  for (const line of [frozen, well]) if (line !== undefined) signalProcess(pidOf(line), 'SIGKILL');
  await place?.remove();
});

const send = sendTo(() => place);
const balanceBy = ({ agent }: Line) => send(agent, place.operatorKey(), 'GET', '/v1/account/balance');
const pidOf = ({ worker }: Line) => Number(worker.split('-').at(-1));

/** Runs an endless loop in the process, as a debugger would. */
async function occupy(pid: number): Promise<void> {
  signalProcess(pid, 'SIGUSR1');
  const address = () => /listening on (ws:\S+)/.exec(service.stderr())?.[1];
  await until(() => address() !== undefined, PATIENCE_MS);
  const socket = new WebSocket(address() as string);
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: 'for (;;);' } }));
}

/** Resolves once a call on the connection that was there before ends without an answer. */
const endsUnanswered = (line: Line) =>
  balanceBy(line).then(
    () => false,
    () => true,
  );

async function untilReplaced(): Promise<void> {
  await until(() => {
    const pids = workersOf(service.pid);
    return pids.length === 2 && !pids.includes(pidOf(frozen));
  }, PATIENCE_MS);
  const fresh = workersOf(service.pid).find((pid) => pid !== pidOf(well));
  await until(async () => {
    const agent = new Agent();
    const { worker } = await send(agent, place.operatorKey(), 'GET', '/v1/account/balance');
    agent.destroy();
    return worker.endsWith(`-${fresh}`);
  }, PATIENCE_MS);
}

describe('a worker whose event loop does not answer is killed and replaced, and the others go on', () => {
  test.each([
    ['stopped', (pid: number) => process.kill(pid, 'SIGSTOP')],
    ['in an endless loop', occupy],
  ])('%s', { timeout: PATIENCE_MS }, async (_how, freeze) => {
    await freeze(pidOf(frozen));
    let isGone = false;
    const gone = endsUnanswered(frozen).finally(() => {
      isGone = true;
    });
    let calls = 0;
    for (; !isGone; calls += 1) expect((await balanceBy(well)).status).toBe(200);
    expect(await gone).toBe(true);
    expect(calls).toBeGreaterThan(0);
    await untilReplaced();
    expect(isAlive(pidOf(frozen))).toBe(false);
    expect((await balanceBy(well)).worker).toBe(well.worker);
    expect(service.stdout()).toMatch(
      new RegExp(`"pid":${pidOf(frozen)},"silent_ms":\\d+,"msg":"a worker does not answer: killed"`),
    );
  });
});

test(
  'when all were stopped for longer than that, as on a suspended machine, nobody is killed',
  async () => {
    const before = workersOf(service.pid);
    process.kill(-service.pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    // The first process alone at first: it must not judge by the time that it did not see.
    process.kill(service.pid, 'SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    process.kill(-service.pid, 'SIGCONT');
    expect((await balanceBy(well)).status).toBe(200);
    expect((await balanceBy(frozen)).status).toBe(200);
    expect(workersOf(service.pid)).toEqual(before);
  },
  PATIENCE_MS,
);

describe('no worker outlives the service', () => {
  test(
    'SIGTERM: a stopped worker is killed within the bound, and the port is free at once',
    async () => {
      const postgres = place.postgresPid() as number;
      const workers = workersOf(service.pid);
      process.kill(pidOf(frozen), 'SIGSTOP');
      const begunMs = performance.now();
      expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(performance.now() - begunMs).toBeLessThan(allowedMs(10_000));
      expect([postgres, ...workers].filter(isAlive)).toEqual([]);
      service = await startProcess(place);
      expect(await isReady(place.url)).toBe(true);
    },
    PATIENCE_MS,
  );

  test(
    'a second signal ends a stopped worker too',
    async () => {
      const workers = workersOf(service.pid);
      process.kill(pidOf(frozen), 'SIGSTOP');
      service.child.kill('SIGTERM');
      service.child.kill('SIGINT');
      await service.exited;
      await until(() => !workers.some(isAlive), PATIENCE_MS);
    },
    PATIENCE_MS,
  );

  test(
    'a worker that was stopped while the first process was killed ends when it goes on',
    async () => {
      process.kill(pidOf(frozen), 'SIGSTOP');
      await service.end('SIGKILL');
      await until(() => !isAlive(pidOf(well)), PATIENCE_MS);
      process.kill(pidOf(frozen), 'SIGCONT');
      await until(() => !isAlive(pidOf(frozen)), PATIENCE_MS);
    },
    PATIENCE_MS,
  );
});
