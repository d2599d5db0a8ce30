// Could deliveries run on a job library? Measures on the embedded PostgreSQL what a background for webhooks must have: the work of a
// killed process comes back soon, one account's backlog does not delay another's, and an idle service stays within 150 MB.
// docs/decisions/0001-background-work.md holds the answer.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, makeWorkerUtils, run, type TaskList } from 'graphile-worker';
import { print } from './support/report.ts';
import { query, startBenchService } from './support/service.ts';

const CONCURRENCY = 64;
const BACKLOG = Number(process.env.BENCH_JOBS ?? 20_000);
const ATTEMPT_MS = 20;
const silent = new Logger(() => () => undefined);

const [role, connectionString] = process.argv.slice(2);
if (role === 'hold') await holdJob(connectionString as string);
else await measure();

/** A worker process of its own, which takes the job and never ends it. */
async function holdJob(connection: string): Promise<void> {
  const taskList: TaskList = {
    deliver: async () => {
      process.stdout.write('{"taken":true}\n');
      await sleep(3_600_000);
    },
  };
  await run({
    connectionString: connection,
    concurrency: CONCURRENCY,
    logger: silent,
    noHandleSignals: true,
    taskList,
  });
}

async function measure(): Promise<void> {
  const service = await startBenchService(1);
  await query(service.connection, 'CREATE DATABASE jobs');
  const { host, port, user, password } = service.connection;
  const connection = `postgresql:///jobs?host=${encodeURIComponent(String(host))}&port=${port}&user=${user}&password=${password}`;
  const utils = await makeWorkerUtils({ connectionString: connection, logger: silent });
  await utils.migrate();

  const importMb = await importedMb();
  const waited = await afterKill(connection, () => utils.addJob('deliver', { account: 'a' }));
  await utils.withPgClient((client) => client.query('DELETE FROM graphile_worker._private_jobs'));
  const delayMs = await behindBacklog(connection, utils);
  await utils.release();
  print('A job library under deliveries', [
    { what: 'memory of importing it, in a process of its own', value: `${importMb.toFixed(0)} MB` },
    { what: 'a job whose worker was killed, taken again after', value: waited, target: 'seconds' },
    {
      what: `one job of another account behind ${BACKLOG.toLocaleString('en')} of ${ATTEMPT_MS} ms, ${CONCURRENCY} at a time`,
      value: `${(delayMs / 1000).toFixed(1)} s`,
      target: '≤ 1 s',
      met: delayMs <= 1_000,
    },
  ]);
  await service.stop();
}

async function importedMb(): Promise<number> {
  const code = `const b = process.memoryUsage.rss(); await import('pg'); const p = process.memoryUsage.rss(); await import('graphile-worker');
    console.log(JSON.stringify({ mb: (process.memoryUsage.rss() - p) / 1024 ** 2 }));`;
  const started = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return ((await firstLine(started)) as { mb: number }).mb;
}

/** Kills the process that has the job, starts another, and waits ten seconds for it to take the job. */
async function afterKill(connection: string, add: () => Promise<unknown>): Promise<string> {
  const self = new URL(import.meta.url).pathname;
  const start = () => spawn(process.execPath, [self, 'hold', connection], { stdio: ['ignore', 'pipe', 'inherit'] });
  const first = start();
  const taken = firstLine(first);
  await add();
  await taken;
  first.kill('SIGKILL');
  const second = start();
  const startedMs = performance.now();
  const again = await Promise.race([firstLine(second).then(() => true), sleep(10_000, false)]);
  second.kill('SIGKILL');
  return again
    ? `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
    : 'not within 10 s (it counts as lost after 4 hours)';
}

/** How long a job of account b waits that is added when account a has a backlog. */
async function behindBacklog(connection: string, utils: Awaited<ReturnType<typeof makeWorkerUtils>>): Promise<number> {
  const jobs = Array.from({ length: BACKLOG }, () => ({ identifier: 'attempt', payload: { account: 'a' } }));
  for (let at = 0; at < jobs.length; at += 5_000) await utils.addJobs(jobs.slice(at, at + 5_000));
  const arrived = Promise.withResolvers<number>();
  const runner = await run({
    connectionString: connection,
    concurrency: CONCURRENCY,
    maxPoolSize: 20,
    logger: silent,
    noHandleSignals: true,
    taskList: {
      attempt: async (payload) => {
        if ((payload as { account: string }).account === 'b') arrived.resolve(performance.now());
        else await sleep(ATTEMPT_MS);
      },
    },
  });
  await sleep(500);
  const addedMs = performance.now();
  await utils.addJob('attempt', { account: 'b' });
  const delayMs = (await arrived.promise) - addedMs;
  await runner.stop();
  return delayMs;
}

function firstLine(started: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (started.stdout === null) throw new Error('no output');
    createInterface({ input: started.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    started.once('error', reject);
  });
}
