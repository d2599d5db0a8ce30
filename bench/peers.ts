// Whole lives of jobs per second, against two well-kept job queues on the same PostgreSQL: one job per enqueue call, 64 at a time.
// Ours goes over HTTP, authenticated and billed; they are called in process. Each job: enqueued, delivered, completed.

import { Logger, makeWorkerUtils, run, type Logger as WorkerLogger } from 'graphile-worker';
import { PgBoss } from 'pg-boss';
import { BODY, QUEUE, receiptsIn } from './support/flows.ts';
import { load, post } from './support/load.ts';
import { median, perSecond, print } from './support/report.ts';
import { type BenchAccount, type BenchService, query, startBenchService } from './support/service.ts';

const CONCURRENCY = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const JOBS = Number(process.env.BENCH_JOBS ?? 10_000);
const DATA = (JSON.parse(BODY) as { payload: object }).payload;
const silent: WorkerLogger = new Logger(() => () => undefined);

const service = await startBenchService(1);
const account = service.accounts[0] as BenchAccount;
await service.call(account.secret, '/v1/queue/create', { name: QUEUE });
// A database of their own on the same server: their tables, our PostgreSQL.
await query(service.connection, 'CREATE DATABASE peers');
const peers = { ...service.connection, database: 'peers' };

/** Runs `each` until `total` calls were made, `CONCURRENCY` at a time. */
async function times(total: number, each: () => Promise<unknown>): Promise<void> {
  let left = total;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await each();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
}

async function ours({ url }: BenchService, { secret }: BenchAccount): Promise<number> {
  const publish = post(url, '/v1/queue/publish', secret, BODY);
  const consume = post(url, '/v1/queue/consume', secret, `{"queue":"${QUEUE}","max_messages":10,"wait_seconds":1}`);
  const half = CONCURRENCY / 2;
  let published = 0;
  let acked = 0;
  const held = new Map<number, string[]>();
  const started = performance.now();
  await load({
    url,
    connections: CONCURRENCY,
    seconds: 600,
    flow: {
      next(connection) {
        if (connection < half && published < JOBS) {
          published += 1;
          return publish;
        }
        const receipts = held.get(connection);
        if (receipts !== undefined)
          return post(url, '/v1/queue/ack', secret, JSON.stringify({ queue: QUEUE, receipts }));
        return acked >= JOBS ? null : consume;
      },
      answered(connection, status, body) {
        if (status !== 200) throw new Error(`answered ${status}: ${body.toString()}`);
        const receipts = held.get(connection);
        if (receipts !== undefined) {
          acked += receipts.length;
          held.delete(connection);
          return;
        }
        const fresh = receiptsIn(body);
        if (fresh.length > 0) held.set(connection, fresh);
      },
    },
  });
  return JOBS / ((performance.now() - started) / 1000);
}

/** Fetching and completing in batches of ten by hand: its polling workers would wait between batches. */
async function pgBoss(boss: PgBoss): Promise<number> {
  const started = performance.now();
  const producing = times(JOBS, () => boss.send(QUEUE, DATA));
  let completed = 0;
  const worker = async () => {
    while (completed < JOBS) {
      const jobs = await boss.fetch(QUEUE, { batchSize: 10 });
      if (jobs.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      else {
        await boss.complete(
          QUEUE,
          jobs.map((job) => job.id),
        );
        completed += jobs.length;
      }
    }
  };
  await Promise.all([producing, ...Array.from({ length: CONCURRENCY / 2 }, worker)]);
  return JOBS / ((performance.now() - started) / 1000);
}

async function graphileWorker(): Promise<number> {
  const connection = `postgresql:///peers?host=${encodeURIComponent(String(peers.host))}&port=${peers.port}&user=${peers.user}&password=${peers.password}`;
  const utils = await makeWorkerUtils({ connectionString: connection, logger: silent });
  await utils.migrate();
  let completed = 0;
  const finished = Promise.withResolvers<void>();
  const started = performance.now();
  const runner = await run({
    connectionString: connection,
    concurrency: CONCURRENCY,
    maxPoolSize: 20,
    logger: silent,
    noHandleSignals: true,
    taskList: {
      bench: () => {
        completed += 1;
        if (completed === JOBS) finished.resolve();
      },
    },
  });
  await Promise.all([times(JOBS, () => utils.addJob('bench', DATA)), finished.promise]);
  const rate = JOBS / ((performance.now() - started) / 1000);
  await runner.stop();
  await utils.release();
  return rate;
}

const boss = new PgBoss({ ...peers, max: 20 });
boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
await boss.start();
await boss.createQueue(QUEUE);
const rates = { ours: [] as number[], pgBoss: [] as number[], graphileWorker: [] as number[] };
for (let round = 0; round < ROUNDS; round += 1) {
  rates.ours.push(await ours(service, account));
  rates.pgBoss.push(await pgBoss(boss));
  rates.graphileWorker.push(await graphileWorker());
}
await boss.stop();
const ratio = (other: number[]) => median(rates.ours.map((rate, i) => rate / (other[i] as number)));
print(`Whole lives of ${JOBS.toLocaleString('en')} jobs, ${CONCURRENCY} at a time (${ROUNDS} interleaved rounds)`, [
  { what: 'this service, over HTTP and billed', value: perSecond(median(rates.ours)) },
  {
    what: 'pg-boss',
    value: `${perSecond(median(rates.pgBoss))}; ours is ${ratio(rates.pgBoss).toFixed(1)} x`,
    target: '> 1 x',
    met: ratio(rates.pgBoss) > 1,
  },
  {
    what: 'graphile-worker',
    value: `${perSecond(median(rates.graphileWorker))}; ours is ${ratio(rates.graphileWorker).toFixed(1)} x`,
    target: '> 1 x',
    met: ratio(rates.graphileWorker) > 1,
  },
]);
await service.stop();
