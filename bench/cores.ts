// What do more processes bring? Services of 1 to 4 workers, each on a PostgreSQL of its own, are loaded in turn, over connections that stay
// open, as clients keep them; PostgreSQL, Node and the load share the cores, so beside each rate stands who used how many of them.
// `BENCH_ONLY=wallets,lives` runs some rows.
import { availableParallelism } from 'node:os';
import { publish, publishFromAll, QUEUE, wholeLives } from './support/flows.ts';
import { type Flow, type Line, loadOn, openLines } from './support/load.ts';
import { machineSeconds, processorSeconds, treeSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row } from './support/report.ts';
import { type BenchAccount, type BenchService, postmasterPid, startBenchService } from './support/service.ts';

const WORKERS_MAX = 4;
const WALLETS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const WARM_UP_SECONDS = 1.5;
const BATCH = 10;
/** BullMQ on Redis with fsync at every write, called in process, on such a machine. */
const PEER_LIVES = 9_000;
const ONE_ACCOUNT_MIN = 0.9;
/** Of what could be used: then that is the limit. */
const USED_UP = 0.9;

interface Service extends BenchService {
  readonly count: number;
  readonly postmaster: number;
}

interface Kind {
  readonly name: string;
  readonly what: string;
  readonly connections: number;
  readonly workers: readonly number[];
  flow(service: Service, done: (lives: number) => void): Flow;
}

interface Round {
  readonly rate: number;
  readonly p99Ms: number;
  /** Cores used meanwhile. */
  readonly node: number;
  readonly busiest: number;
  readonly postgres: number;
  readonly load: number;
  readonly others: number;
}

interface Run {
  readonly kind: Kind;
  readonly service: Service;
  readonly lines: readonly Line[];
  readonly rounds: Round[];
}

const one = ({ accounts }: Service) => accounts[0] as BenchAccount;
const kinds: readonly Kind[] = [
  {
    name: 'wallets',
    what: `publish of ${WALLETS} wallets, calls`,
    connections: 128,
    workers: [1, 2, 3, 4],
    flow: ({ url, accounts }) => publishFromAll(url, accounts),
  },
  {
    name: 'account',
    what: 'publish of one account, calls',
    connections: 64,
    workers: [1, 2, 3, 4],
    flow: (service) => publish(service.url, one(service)),
  },
  {
    name: 'lives',
    what: `whole lives of ${WALLETS} wallets`,
    connections: 64,
    workers: [1, 4],
    flow: ({ url, accounts }, done) => wholeLives(url, accounts, 1, done),
  },
  {
    name: 'account-lives',
    what: 'whole lives of one account',
    connections: 64,
    workers: [1, 4],
    flow: (service, done) => wholeLives(service.url, [one(service)], 1, done),
  },
  {
    name: 'batches',
    what: `whole lives of one account, ${BATCH} a call`,
    connections: 64,
    workers: [1, 4],
    flow: (service, done) => wholeLives(service.url, [one(service)], BATCH, done),
  },
];

const wanted = process.env.BENCH_ONLY?.split(',') ?? kinds.map(({ name }) => name);
const unknown = wanted.find((name) => !kinds.some((kind) => kind.name === name));
if (unknown !== undefined)
  throw new Error(`there are no rows ${unknown}; there are ${kinds.map(({ name }) => name).join(', ')}`);
const chosen = kinds.filter(({ name }) => wanted.includes(name));
const needed = Array.from({ length: WORKERS_MAX }, (_, n) => n + 1).filter((n) =>
  chosen.some(({ workers }) => workers.includes(n)),
);
const services = await Promise.all(needed.map(start));
const runs: Run[] = [];
for (const kind of chosen) {
  for (const service of services.filter(({ count }) => kind.workers.includes(count))) {
    const run: Run = { kind, service, lines: await openLines(service.url, kind.connections), rounds: [] };
    await measure(run, WARM_UP_SECONDS);
    runs.push(run);
  }
}
for (let round = 0; round < ROUNDS; round += 1) for (const run of runs) run.rounds.push(await measure(run, SECONDS));
print(
  `Workers on ${availableParallelism()} cores, which PostgreSQL, Node and the load share (${ROUNDS} interleaved rounds of ${SECONDS} s)`,
  runs.map(rowOf),
);
for (const { lines } of runs) for (const line of lines) line.end();
await Promise.all(services.map((service) => service.stop()));

async function start(count: number): Promise<Service> {
  const service = await startBenchService(WALLETS, 'off', count);
  for (const { secret } of service.accounts) await service.call(secret, '/v1/queue/create', { name: QUEUE });
  return { ...service, count, postmaster: await postmasterPid(service.connection) };
}

async function measure({ kind, service, lines }: Run, seconds: number): Promise<Round> {
  let lives = 0;
  const flow = kind.flow(service, (done) => {
    lives += done;
  });
  const used = () => {
    const { user, system } = process.cpuUsage();
    const each = service.workers.map(processorSeconds);
    // The others' PostgreSQL cleans up after the runs before.
    const postgres = services.reduce((sum, { postmaster }) => sum + treeSeconds(postmaster), 0);
    return { each, first: processorSeconds(service.pid), postgres, load: (user + system) / 1e6, all: machineSeconds() };
  };
  const before = used();
  const { calls, failed, p99Ms, seconds: took } = await loadOn(lines, { seconds, flow });
  const after = used();
  if (failed > 0) throw new Error(`${failed} calls failed`);
  const each = after.each.map((now, n) => (now - (before.each[n] as number)) / took);
  const first = service.count === 1 ? 0 : (after.first - before.first) / took;
  const node = each.reduce((sum, of) => sum + of, first);
  const postgres = (after.postgres - before.postgres) / took;
  const ours = (after.load - before.load) / took;
  const others = Math.max(0, (after.all - before.all) / took - node - postgres - ours);
  return {
    rate: (lives || calls) / took,
    p99Ms,
    node,
    busiest: Math.max(first, ...each),
    postgres,
    load: ours,
    others,
  };
}

function rowOf({ kind, service, rounds }: Run): Row {
  const of = (figure: keyof Round) => median(rounds.map((round) => round[figure]));
  const alone = runs.find((other) => other.kind === kind && other.service.count === 1)?.rounds ?? [];
  const gain = median(rounds.map(({ rate }, n) => rate / (alone[n] as Round).rate));
  const cores = (['node', 'postgres', 'load', 'others'] as const).map((figure) => of(figure).toFixed(1));
  const [node, postgres, load, others] = cores;
  return {
    what: `${kind.what}, ${kind.connections} connections, ${service.count} ${service.count === 1 ? 'process' : 'workers'}`,
    value: `${perSecond(of('rate'))} (${gain.toFixed(2)} of one process); p99 ${of('p99Ms').toFixed(1)} ms; cores: Node ${node}, PostgreSQL ${postgres}, load ${load}, others ${others}; limit: ${limitOf(of)}`,
    ...targetOf(kind, service, of('rate'), gain),
  };
}

function limitOf(of: (figure: keyof Round) => number): string {
  const all = of('node') + of('postgres') + of('load') + of('others');
  if (all >= USED_UP * availableParallelism()) return 'all cores';
  if (of('load') >= USED_UP) return "the load's thread";
  return of('busiest') >= USED_UP ? "Node's thread" : 'turns of Node and PostgreSQL, and the disk';
}

function targetOf(kind: Kind, { count }: Service, rate: number, gain: number): Pick<Row, 'target' | 'met'> {
  if (kind.name === 'batches' || (kind.name === 'lives' && count === WORKERS_MAX))
    return { target: `> ${perSecond(PEER_LIVES)}`, met: rate > PEER_LIVES };
  if (kind.name === 'account' && count > 1)
    return { target: `≥ ${ONE_ACCOUNT_MIN} of one`, met: gain >= ONE_ACCOUNT_MIN };
  if (kind.name === 'wallets' && count > 1) return { target: '> 1 of one', met: gain > 1 };
  return {};
}
