// What is watched while a scenario runs: resident memory of the service, whether it answers on new connections, locks held meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../../src/db/client.ts';
import type { BenchAccount, BenchService } from '../support/service.ts';
import { type Answer, Line } from './line.ts';

const MEMORY_EVERY_MS = 100;
const HEALTH_EVERY_MS = 50;
const HEALTH_WITHIN_MS = 1_000;
const HEALTH_ADDRESS = '127.0.0.3';
const QUIET_CALLS = 20;
const QUIET_MS = 50;

/** The most memory, MB, from now until the task is done. */
export async function peakMemory<Result>(service: BenchService, task: Promise<Result>): Promise<[Result, number]> {
  let peakMb = service.memoryMb();
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, service.memoryMb());
  }, MEMORY_EVERY_MS);
  try {
    return [await task, peakMb];
  } finally {
    clearInterval(timer);
  }
}

/** Share of questions to /healthz, each on a connection of its own, that are answered with 200 within a second. */
export async function healthShare(url: string, seconds: number): Promise<number> {
  const asked: Promise<boolean>[] = [];
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) {
    asked.push(isHealthy(url));
    await sleep(HEALTH_EVERY_MS);
  }
  const answers = await Promise.all(asked);
  return answers.filter(Boolean).length / answers.length;
}

/** Holds the wallets' rows, each in a transaction of its own. */
export async function lockWallets(
  { connection }: BenchService,
  accounts: readonly BenchAccount[],
  seconds: number,
): Promise<void> {
  await Promise.all(
    accounts.map(({ accountId }) =>
      withClient(connection, async (client) => {
        await client.query('BEGIN');
        await client.query('SELECT 1 FROM core.wallet WHERE account_id = $1 FOR UPDATE', [accountId]);
        await sleep(seconds * 1000);
        await client.query('ROLLBACK');
      }),
    ),
  );
}

/** Seconds until new connections are answered at once and no call runs any more, at most `secondsMax`. */
export async function settled({ url }: BenchService, secondsMax: number): Promise<number> {
  const startedMs = performance.now();
  for (let quick = 0; quick < QUIET_CALLS && performance.now() - startedMs < secondsMax * 1000; ) {
    const askedMs = performance.now();
    const isQuick = (await isHealthy(url)) && performance.now() - askedMs < QUIET_MS;
    quick = isQuick && (await isIdle(url)) ? quick + 1 : 0;
    await sleep(10);
  }
  return (performance.now() - startedMs) / 1000;
}

async function isIdle(url: string): Promise<boolean> {
  const answer = await ask(url, '/metrics');
  return /^qm_calls_running 0$/m.test(answer?.body.toString('latin1') ?? '');
}

async function isHealthy(url: string): Promise<boolean> {
  return (await ask(url, '/healthz'))?.status === 200;
}

/** On a connection of its own; null without an answer within a second. */
async function ask(url: string, path: string): Promise<Answer | null> {
  const line = new Line(url, HEALTH_ADDRESS);
  const timer = setTimeout(() => line.end(), HEALTH_WITHIN_MS);
  const answer = await line.call(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`));
  clearTimeout(timer);
  line.end();
  return answer;
}
