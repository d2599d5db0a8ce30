// The service under test, as a process of its own, or the first of WORKERS: with the no-op module (in one process), accounts with plenty
// of credit, and nothing else special. Prints one line of JSON when it is ready; ends when its standard input closes.
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { loadConfig } from '../../src/config/config.ts';
import { readEnv } from '../../src/config/env.ts';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { createLog } from '../../src/core/process/log.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import { NANOS_PER_USD } from '../../src/lib/money.ts';
import { startService } from '../../src/service/start-service.ts';
import { startWorkers } from '../../src/workers/primary.ts';
import { benchModule } from './noop-module.ts';

/** Turns shorter than this are counted together. */
const TURNS_EVERY_MS = 1;

const accounts = Number(process.argv[2]);
const config = loadConfig(readEnv());
const log = createLog(config.logLevel);
const service =
  config.workers === 1
    ? await startService(config, { log, extraModules: [benchModule] })
    : await startWorkers(config, { log, vendorsText: null });
const connection =
  config.databaseUrl === undefined
    ? (readConnection(config.dataDir) as Connection)
    : { connectionString: config.databaseUrl };
const db = new Database({ connection, connections: 1, hotConnections: 1 });
const secrets = new Secrets(await loadServerSecret(config));
const made: { accountId: string; secret: string }[] = [];
for (let i = 0; i < accounts; i += 1) {
  made.push(
    await db.transaction(async (tx) => {
      const accountId = await createAccount(tx, {});
      await grantCredit(tx, accountId, {
        kind: 'paid',
        amountNanos: 1_000_000n * NANOS_PER_USD,
        expiresInMs: null,
        note: null,
      });
      const nowMs = await lockCaller(tx, accountId);
      const { secret } = await createKey(
        tx,
        secrets,
        accountId,
        { name: null, scopes: null, expiresAtMs: null, cap: null },
        nowMs,
      );
      return { accountId, secret };
    }),
  );
}
await db.end();
process.stdout.write(`${JSON.stringify({ url: service.baseUrl, pid: process.pid, accounts: made })}\n`);
answerTurns();
process.stdin.resume();
process.stdin.on('end', () => {
  void service.stop().then(() => process.exit(0));
});

/**
 * Answers each message with the longest turn of this thread's loop since the one before: ms of processor time, of it ms of the kernel (pages of
 * memory, sockets), and ms by the clock in which garbage was collected. Nothing is measured before the first.
 */
function answerTurns(): void {
  let longest = { ms: 0, kernelMs: 0, fromMs: 0, toMs: 0 };
  let collections: PerformanceEntry[] = [];
  const measure = () => {
    new PerformanceObserver((list) => collections.push(...list.getEntries())).observe({ entryTypes: ['gc'] });
    let before = process.threadCpuUsage();
    let fromMs = performance.now();
    setInterval(() => {
      const { user, system } = process.threadCpuUsage(before);
      const toMs = performance.now();
      const ms = (user + system) / 1_000;
      if (ms > longest.ms) longest = { ms, kernelMs: system / 1_000, fromMs, toMs };
      before = process.threadCpuUsage();
      fromMs = performance.now();
    }, TURNS_EVERY_MS);
  };
  process.once('message', measure);
  process.on('message', () => {
    const { ms, kernelMs, fromMs, toMs } = longest;
    const within = collections.filter(({ startTime }) => startTime >= fromMs && startTime < toMs);
    process.send?.({ ms, kernelMs, collectingMs: within.reduce((sum, { duration }) => sum + duration, 0) });
    longest = { ms: 0, kernelMs: 0, fromMs: 0, toMs: 0 };
    collections = [];
  });
}
