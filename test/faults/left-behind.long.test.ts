// However the service is told to end, nothing of it stays: neither its process nor its PostgreSQL. Long: each way starts npm, a shell or a
// terminal, and in it a service with a PostgreSQL.
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  childrenOf,
  createPlace,
  isAlive,
  isReady,
  launchCommand,
  type Place,
  type ServiceProcess,
  signalProcess,
  until,
} from '../support/process.ts';

const MAIN = ['node_modules/.bin/node', 'src/main.js'] as const;
const SCRIPT = '/usr/bin/script';

// On a busy machine a start alone takes half a minute.
vi.setConfig({ testTimeout: 240_000 });

let place: Place;
let started: ServiceProcess;
/** What the first process has started, and theirs. */
let all: number[] = [];

beforeAll(async () => {
  place = await createPlace({ LOG_LEVEL: 'info' });
});
afterEach(() => {
  // Where a test fails; these ids are of what it started.
  for (const pid of all) if (isAlive(pid)) signalProcess(pid, 'SIGKILL');
});
afterAll(async () => {
  await place?.remove();
});

function descendantsOf(pid: number): number[] {
  const children = childrenOf(pid);
  return [...children, ...children.flatMap(descendantsOf)];
}

async function start(...command: readonly [string, ...string[]]): Promise<void> {
  started = launchCommand(command, place);
  await until(() => isReady(place.url), 180_000);
  all = [started.pid, ...descendantsOf(started.pid), place.postgresPid() as number];
}

const left = () => all.filter(isAlive);

async function expectNothingLeft(): Promise<void> {
  await expect.poll(left, { timeout: 30_000 }).toEqual([]);
  expect(place.postgresPid()).toBeUndefined();
}

test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGKILL'] as const)('%s to npm start', async (signal) => {
  await start('npm', 'start');
  started.child.kill(signal);
  await expectNothingLeft();
});

test.each(['SIGTERM', 'SIGHUP', 'SIGKILL'] as const)('%s to npx quartermaster', async (signal) => {
  await start('npx', 'quartermaster');
  started.child.kill(signal);
  await expectNothingLeft();
});

test.each(['SIGHUP', 'SIGQUIT'] as const)('%s to the service stops it in order', async (signal) => {
  await start(...MAIN);
  started.child.kill(signal);
  expect(await started.exited).toEqual({ code: 0, signal: null });
  await expectNothingLeft();
});

test('a command that is ended takes the PostgreSQL along that it has started', async () => {
  started = launchCommand(['node_modules/.bin/node', 'src/qm.js', 'doctor'], place);
  await until(() => place.postgresPid() !== undefined, 180_000);
  all = [started.pid, place.postgresPid() as number];
  started.child.kill('SIGTERM');
  expect((await started.exited).code).toBe(128 + constants.signals.SIGTERM);
  await expectNothingLeft();
});

test('Ctrl-C, which npm hands on to a service that the terminal has told already, stops in order', async () => {
  await start('npm', 'start');
  process.kill(-started.pid, 'SIGINT');
  expect(await started.exited).toEqual({ code: 0, signal: null });
  await expectNothingLeft();
});

test.skipIf(!existsSync(SCRIPT))('a closed terminal (needs the program script)', async () => {
  await start(SCRIPT, '-qc', MAIN.join(' '), '/dev/null');
  started.child.kill('SIGKILL');
  await expectNothingLeft();
});

test.skipIf(!existsSync(SCRIPT))('a closed terminal with several processes (needs the program script)', async () => {
  await start(SCRIPT, '-qc', `WORKERS=2 ${MAIN.join(' ')}`, '/dev/null');
  started.child.kill('SIGKILL');
  await expectNothingLeft();
});
