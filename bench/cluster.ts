// What does a distributed engine cost? Publish on a Citus cluster (CLUSTER_URL: its coordinator) beside one PostgreSQL (PLAIN_URL), in turns.
// Both URLs are of superusers and of databases of the bench's own, and all nodes run on this machine, since their processor time is counted.
import { BODY, publish, publishFromAll, QUEUE } from './support/flows.ts';
import { type Flow, type LoadResult, load } from './support/load.ts';
import { treeSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row, ratioRow } from './support/report.ts';
import { type BenchService, postmasterPid, query, startBenchService } from './support/service.ts';

const WALLETS = 64;
/** The databases keep what a run before has left. */
const SECRETS_KEY = 'the server secret of bench/cluster.ts';
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const { CLUSTER_URL, PLAIN_URL } = process.env;

interface Side {
  readonly service: BenchService;
  readonly postmasters: readonly number[];
  readonly results: Map<string, (LoadResult & { postgresUs: number })[]>;
}

interface Case {
  readonly name: string;
  readonly connections: number;
  /** Least rate, as a part of one PostgreSQL's. */
  readonly target: number;
  readonly flow: (service: BenchService) => Flow;
}

const ofOne = ({ url, accounts: [account] }: BenchService) => publish(url, account as BenchService['accounts'][number]);
const cases: readonly Case[] = [
  {
    name: `publish of ${WALLETS} wallets`,
    connections: WALLETS,
    target: 0.3,
    flow: ({ url, accounts }) => publishFromAll(url, accounts),
  },
  { name: 'publish of one wallet', connections: 64, target: 0.6, flow: ofOne },
  { name: 'publish, one connection', connections: 1, target: 0.5, flow: ofOne },
];

async function openSide(url: string): Promise<Side> {
  const service = await startBenchService(WALLETS, 'off', 1, { DATABASE_URL: url, SECRETS_KEY });
  for (const { secret } of service.accounts) await service.call(secret, '/v1/queue/create', { name: QUEUE });
  const { connection } = service;
  const [citus] = await query(connection, `SELECT FROM pg_extension WHERE extname = 'citus'`);
  const nodes =
    citus === undefined
      ? [connection]
      : (
          await query<{ host: string; port: number }>(
            connection,
            'SELECT nodename AS host, nodeport AS port FROM pg_dist_node',
          )
        ).map((node) => ({ ...connection, ...node }));
  return { service, postmasters: await Promise.all(nodes.map(postmasterPid)), results: new Map() };
}

async function run({ service, postmasters, results }: Side, { name, connections, flow }: Case): Promise<void> {
  const secondsOfAll = () => postmasters.reduce((sum, pid) => sum + treeSeconds(pid), 0);
  const before = secondsOfAll();
  const result = await load({ url: service.url, connections, seconds: SECONDS, flow: flow(service) });
  const answered = result.calls - result.failed;
  // A busy machine makes the service refuse some calls (OVERLOADED), which reach no database.
  if (answered < result.calls / 2) throw new Error(`${name}: ${result.failed} of ${result.calls} calls failed`);
  const postgresUs = ((secondsOfAll() - before) / answered) * 1e6;
  const rate = (result.rate * answered) / result.calls;
  results.set(name, [...(results.get(name) ?? []), { ...result, rate, postgresUs }]);
}

function rowsOf({ name, target }: Case, cluster: Side, one: Side): Row[] {
  const [many, few] = [cluster.results.get(name) ?? [], one.results.get(name) ?? []];
  const figures = (of: typeof many) =>
    `${perSecond(median(of.map(({ rate }) => rate)))}, ${median(of.map(({ postgresUs }) => postgresUs)).toFixed(0)} µs of PostgreSQL a call, p50 ${median(of.map(({ p50Ms }) => p50Ms)).toFixed(1)} ms`;
  const rates = many.map(({ rate }, i) => rate / (few[i]?.rate ?? Number.NaN));
  return [
    ratioRow(`${name}: cluster / one`, rates, target),
    { what: `${name}, cluster`, value: figures(many) },
    { what: `${name}, one`, value: figures(few) },
  ];
}

if (CLUSTER_URL === undefined || PLAIN_URL === undefined) {
  process.stdout.write('cluster: skipped without CLUSTER_URL and PLAIN_URL\n');
} else {
  const cluster = await openSide(CLUSTER_URL);
  const one = await openSide(PLAIN_URL);
  const sides = [cluster, one];
  for (const each of cases) for (const side of sides) await run(side, each);
  for (const side of sides) side.results.clear();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const each of cases) for (const side of round % 2 === 0 ? sides : [one, cluster]) await run(side, each);
  print(
    `A cluster beside one PostgreSQL (${ROUNDS} interleaved rounds of ${SECONDS} s, bodies of ${BODY.length} bytes)`,
    cases.flatMap((each) => rowsOf(each, cluster, one)),
  );
  for (const { service } of sides) await service.stop();
}
