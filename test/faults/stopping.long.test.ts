// How the process ends, in order and not, and what the next start finds.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  createPlace,
  isAlive,
  isReady,
  type Place,
  type ServiceProcess,
  signalProcess,
  startProcess,
  until,
} from '../support/process.ts';
import { type Client, client, type Reply } from '../support/service.ts';
import { allowedMs } from '../support/slowness.ts';

let place: Place;
let service: ServiceProcess;
let call: Client;

let unitsBefore: number;

beforeAll(async () => {
  place = await createPlace();
});
beforeEach(async () => {
  service = await startProcess(place);
  call = client(place.url, place.operatorKey());
  expect((await call('POST', '/v1/queue/create', { name: 'jobs' })).status).toBe(200);
  unitsBefore = 0;
  unitsBefore = await publishedUnits();
});
afterEach(async () => {
  await service?.end('SIGTERM');
});
afterAll(async () => {
  await place?.remove();
});

const publish = () => call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 1 } });

/** Publishes without a pause until a call fails; answers how many succeeded and what the last one got. */
async function publishUntilRefused(): Promise<{ accepted: number; last: Reply | null }> {
  for (let accepted = 0; ; accepted += 1) {
    const last = await publish().catch(() => null);
    if (last?.status !== 200) return { accepted, last };
  }
}

/** In this test. */
async function publishedUnits(): Promise<number> {
  const { body } = await call('GET', '/v1/account/usage');
  const found = body.data.by_capability.find((row: { capability: string }) => row.capability === 'queue.publish');
  return (found?.units ?? 0) - unitsBefore;
}

test('SIGTERM under load: every accepted call is answered, long polls end at once, PostgreSQL stops, exit code 0', async () => {
  expect((await call('POST', '/v1/queue/create', { name: 'empty' })).status).toBe(200);
  const polls = Array.from({ length: 8 }, () =>
    call('POST', '/v1/queue/consume', { queue: 'empty', wait_seconds: 20 }),
  );
  const polled = Promise.all(polls).then((replies) => ({ replies, atMs: performance.now() }));
  const publishers = Array.from({ length: 32 }, publishUntilRefused);
  await sleep(1_000);
  const postgres = place.postgresPid() as number;
  const begun = performance.now();
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  const tookMs = performance.now() - begun;
  const { replies, atMs } = await polled;
  const results = await Promise.all(publishers);
  const accepted = results.reduce((sum, result) => sum + result.accepted, 0);
  console.log(
    `${accepted} calls answered; long polls after ${Math.round(atMs - begun)} ms, the end after ${Math.round(tookMs)} ms`,
  );
  expect(tookMs).toBeLessThan(allowedMs(10_000));
  expect(atMs - begun).toBeLessThan(allowedMs(1_000));
  for (const { status, body } of replies) expect([status, body.data.items]).toEqual([200, []]);
  for (const { last } of results) if (last !== null) expect(last.body.error.code).toBe('SERVICE_UNAVAILABLE');
  expect(isAlive(postgres)).toBe(false);
  expect(service.stderr()).toBe('');
  service = await startProcess(place);
  expect(await publishedUnits()).toBe(accepted);
});

test('Ctrl-C, which the terminal sends to the whole process group, stops in order', async () => {
  await publish();
  const postgres = place.postgresPid() as number;
  process.kill(-service.pid, 'SIGINT');
  expect(await service.exited).toEqual({ code: 0, signal: null });
  expect(isAlive(postgres)).toBe(false);
  service = await startProcess(place);
  expect(await publishedUnits()).toBe(1);
});

test('a second signal ends the process at once; PostgreSQL follows it, and the next start works', async () => {
  const postgres = place.postgresPid() as number;
  service.child.kill('SIGTERM');
  service.child.kill('SIGINT');
  await service.exited;
  await until(() => !isAlive(postgres));
  service = await startProcess(place);
  expect((await publish()).status).toBe(200);
});

test('after kill -9 of the service the next start takes over its PostgreSQL at once', async () => {
  await publish();
  const postgres = place.postgresPid();
  await service.end('SIGKILL');
  service = await startProcess(place);
  expect(place.postgresPid()).toBe(postgres);
  expect(await publishedUnits()).toBe(1);
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(isAlive(postgres as number)).toBe(false);
});

test('after kill -9 of service and PostgreSQL the next start recovers', async () => {
  await publish();
  signalProcess(place.postgresPid(), 'SIGKILL');
  await service.end('SIGKILL');
  service = await startProcess(place);
  expect(await publishedUnits()).toBe(1);
});

test('after kill -9 of an idle PostgreSQL readyz says 503, then 200, and a call made meanwhile is answered', async () => {
  await publish();
  const killed = place.postgresPid();
  signalProcess(killed, 'SIGKILL');
  await until(async () => !(await isReady(place.url)));
  expect((await publish()).status).toBe(200);
  await until(() => isReady(place.url));
  expect(place.postgresPid()).not.toBe(killed);
  expect(service.child.exitCode).toBeNull();
  expect(await publishedUnits()).toBe(2);
});
