// What do 1 and 2 cores carry, and what do memory and disk come to? The tables of docs/deploy/sizing.md, for the machine that runs it.
// Service and PostgreSQL are bound to so many cores by taskset (Linux); the load runs on the others, where there are any.
import { availableParallelism } from 'node:os';
import { messagesBody, noop, publish, QUEUE } from './support/flows.ts';
import { type Flow, type LoadResult, load, post } from './support/load.ts';
import { otlpBatch, otlpCall } from './support/log-records.ts';
import { bindTo, machineSeconds, processorSeconds, treeMemoryMb, treeOf, treeSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row } from './support/report.ts';
import { type BenchAccount, postmasterPid, query, startBenchService } from './support/service.ts';
import { base64, VectorSource } from './support/vectors.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2);
const DIMENSION = 768;
const COLLECTION = 'bench';
const RECORDS = 1_000;
const DATABASE_BYTES = 'SELECT pg_database_size(current_database())::float8 AS bytes';

interface Kind {
  readonly name: string;
  readonly connections: number;
  /** Of what is counted, in one call. */
  readonly units: number;
  flow(): Flow;
}

interface Round {
  readonly rate: number;
  /** Microseconds of processor time a unit. */
  readonly nodeUs: number;
  readonly postgresUs: number;
  /** Cores that the load used, and all other programs of the machine. */
  readonly load: number;
  readonly others: number;
}

const service = await startBenchService(1);
const { url } = service;
const [account] = service.accounts as [BenchAccount];
const { secret } = account;
const postmaster = await postmasterPid(service.connection);
const source = new VectorSource(DIMENSION, 100);
const cores = [1, 2].filter((count) => count <= availableParallelism());

const kinds: readonly Kind[] = [
  { name: 'calls that do nothing', connections: 64, units: 1, flow: () => noop(url, account) },
  { name: 'charges alone (`rtc.token`)', connections: 64, units: 1, flow: charges },
  { name: '`queue.publish`', connections: 64, units: 1, flow: () => publish(url, account) },
  { name: '`vector.query` of 10,000 × 768', connections: 8, units: 1, flow: () => prepared(5_000, search) },
  { name: 'log records by OTLP, 1,000 a call', connections: 4, units: RECORDS, flow: () => prepared(200, logs) },
];

function charges(): Flow {
  const request = post(url, '/v1/rtc/token', secret, '{"room":"stand-up","identity":"ana"}');
  return { next: () => request };
}

/** So many calls, written before the clock runs. */
function prepared(calls: number, make: (call: number) => Buffer): Flow {
  const waiting = Array.from({ length: calls }, (_, call) => make(call));
  return { next: () => waiting.pop() ?? null };
}

const search = () =>
  post(url, '/v1/vector/query', secret, JSON.stringify({ collection: COLLECTION, embedding: base64(source.next()) }));
const logs = () => otlpCall(url, secret, otlpBatch(RECORDS));
const messages = () => post(url, '/v1/queue/batch/publish', secret, messagesBody(100));

function upserts(call: number): Buffer {
  const sent = Array.from({ length: 100 }, (_, i) => ({ id: `v${call * 100 + i}`, embedding: base64(source.next()) }));
  return post(url, '/v1/vector/upsert', secret, JSON.stringify({ collection: COLLECTION, vectors: sent }));
}

/** Service and PostgreSQL run on the first `count` cores; this process on the rest, if there are any. */
function bind(count: number): void {
  const last = availableParallelism() - 1;
  bindTo([...treeOf(service.pid), ...treeOf(postmaster)], 0, count - 1);
  bindTo([process.pid], count <= last ? count : 0, last);
}

async function run({ next }: Flow, connections: number, seconds: number): Promise<LoadResult> {
  const answered: Flow['answered'] = (_, status, body) => {
    if (status !== 200) throw new Error(`a call was answered with ${status}: ${body}`);
  };
  return load({ url, connections, seconds, flow: { next, answered } });
}

async function measure({ flow, connections, units }: Kind): Promise<Round> {
  const ready = flow();
  const used = () => {
    const { user, system } = process.cpuUsage();
    const [node, postgres] = [processorSeconds(service.pid), treeSeconds(postmaster)];
    return { node, postgres, load: (user + system) / 1e6, all: machineSeconds() };
  };
  const before = used();
  const { calls, seconds } = await run(ready, connections, SECONDS);
  const after = used();
  const [node, postgres, own] = [after.node - before.node, after.postgres - before.postgres, after.load - before.load];
  return {
    rate: (calls * units) / seconds,
    nodeUs: (node * 1e6) / (calls * units),
    postgresUs: (postgres * 1e6) / (calls * units),
    load: own / seconds,
    others: Math.max(0, after.all - before.all - node - postgres - own) / seconds,
  };
}

/** Stores by so many calls; answers the megabytes of disk that a million of it takes. */
async function diskOf(what: string, calls: number, perCall: number, make: (call: number) => Buffer): Promise<Row> {
  const size = async () => (await query<{ bytes: number }>(service.connection, DATABASE_BYTES))[0]?.bytes as number;
  const before = await size();
  await run(prepared(calls, make), 4, 600);
  const bytes = (await size()) - before;
  return { what: `disk, a million ${what}`, value: `${(bytes / (calls * perCall)).toFixed(0)} MB` };
}

const postgresMb = () => `PostgreSQL ${treeMemoryMb(postmaster).toFixed(0)} MB`;
const table: Row[] = [{ what: 'memory, idle', value: postgresMb() }];
await service.call(secret, '/v1/queue/create', { name: QUEUE });
await service.call(secret, '/v1/vector/collection/create', { collection: COLLECTION, dimension: DIMENSION });
table.push(await diskOf('vectors of 768 dimensions', 100, 100, upserts));
table.push(await diskOf('messages that wait', 2_000, 100, messages));
table.push(await diskOf('log records, before they are merged', 500, RECORDS, logs));

const rounds = new Map<string, Round[]>();
// The first round warms up.
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const count of cores) {
    bind(count);
    for (const kind of kinds) {
      const name = `${kind.name}, ${count} ${count === 1 ? 'core' : 'cores'}`;
      const before = round < 2 ? [] : (rounds.get(name) ?? []);
      rounds.set(name, [...before, await measure(kind)]);
    }
  }
}
table.push({
  what: 'memory, after these loads',
  value: `service ${service.memoryMb().toFixed(0)} MB, ${postgresMb()}`,
});
const of = (name: string, figure: keyof Round) => median((rounds.get(name) ?? []).map((round) => round[figure]));
const processorUs = (name: string) => of(name, 'nodeUs') + of(name, 'postgresUs');
for (const name of rounds.keys()) {
  const noops = processorUs(name) / processorUs(`${kinds[0]?.name}, 1 core`);
  const used = `${of(name, 'nodeUs').toFixed(1)} µs Node, ${of(name, 'postgresUs').toFixed(1)} µs PostgreSQL`;
  const beside = `load ${of(name, 'load').toFixed(1)} cores, other programs ${of(name, 'others').toFixed(1)}`;
  table.push({ what: name, value: `${perSecond(of(name, 'rate'))}; ${used} (${noops.toFixed(2)} no-ops); ${beside}` });
}
print(`Sizes: medians of ${ROUNDS} rounds of ${SECONDS} s, cores in turn`, table);
await service.stop();
