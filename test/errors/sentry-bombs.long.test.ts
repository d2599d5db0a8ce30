// Bodies that unfold to much more than they are: what an account can make the service hold is bounded, and nobody else notices.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import zlib from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { createPlace, type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { ErrorsBench } from './harness.ts';
import { envelope, eventId, SentryBench } from './sentry-harness.ts';

const MIB = 1024 * 1024;
const BOMBS = 700;
let running: ServiceProcess;
let bench: SentryBench;
let other: SentryBench;

beforeAll(async () => {
  const own = await ErrorsBench.start();
  // A process of its own: the memory is that of the service alone.
  running = await startProcess(
    await createPlace({ DATABASE_URL: own.service.database.url, SECRETS_KEY, TEST_CLOCK: 'on' }),
  );
  const there = { ...own.service, url: running.url };
  bench = await SentryBench.of(new ErrorsBench(there, own.account));
  other = await SentryBench.of(new ErrorsBench(there, own.account));
});
afterAll(async () => {
  await running.end('SIGTERM');
  await running.place.remove();
  await bench.service.stop();
});

const event = () => ({ event_id: eventId(), message: 'it broke' });

function residentMb(): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${running.pid}/status`, 'utf8'))?.[1]) / 1024;
}

test.runIf(process.platform === 'linux')(
  `${BOMBS} bombs at once take no more memory than a few of them, and another account reports meanwhile`,
  async () => {
    const inner = Buffer.concat([Buffer.from('{}\n{"type":"event"}\n'), Buffer.alloc(MIB - 10, 32)]);
    const bomb = zlib.brotliCompressSync(inner);
    expect(bomb.length).toBeLessThan(100);
    // Threads and pools are there before.
    for (let i = 0; i < 5; i += 1) await bench.post(bench.url(), bomb, { 'content-encoding': 'br' });
    const beforeMb = residentMb();
    let most = beforeMb;
    let isOver = false;
    const sent = Array.from({ length: BOMBS }, () => bench.post(bench.url(), bomb, { 'content-encoding': 'br' }));
    const bombs = Promise.all(sent).finally(() => {
      isOver = true;
    });
    const statuses: number[] = [];
    while (!isOver) {
      statuses.push((await other.sendEvent(event())).status);
      most = Math.max(most, residentMb());
      await sleep(5);
    }
    expect(most - beforeMb).toBeLessThan(300);
    expect(statuses.length).toBeGreaterThan(10);
    // An event of blanks is no JSON; what waits too long for its turn is told to come again (503 where it had not begun to be read).
    const told = (await bombs).map(({ status }) => status);
    expect(told.filter((status) => ![400, 429, 503].includes(status))).toEqual([]);
    expect(told).toContain(400);
    expect(new Set(statuses)).toEqual(new Set([200]));
  },
  60_000,
);

test('a key that was refused for want of credit is refused before its next body is looked at, until there is credit', async () => {
  const poor = await SentryBench.of(new ErrorsBench({ ...bench.service }, bench.account), 0);
  expect((await poor.sendEvent(event())).body.code).toBe('INSUFFICIENT_CREDIT');
  const noise = () => poor.post(poor.url(), 'no gzip', { 'content-encoding': 'gzip' });
  const refused = await noise();
  expect([refused.status, refused.body.code]).toEqual([429, 'INSUFFICIENT_CREDIT']);
  const inBody = await poor.post(poor.url('envelope', null), envelope(event(), { dsn: poor.dsn }));
  expect(inBody.body.code).toBe('INSUFFICIENT_CREDIT');
  const { core } = poor.service;
  await core.db.transaction((tx) =>
    grantCredit(tx, poor.account.accountId, { kind: 'paid', amountNanos: 10n ** 9n, expiresInMs: null, note: null }),
  );
  expect((await poor.sendEvent(event())).status).toBe(200);
  expect((await noise()).status).toBe(400);
});
