// Scores per second, durable and billed, against queue.publish of the same server: calls with one key, with all four, of a few keys that
// are seen all the time and of many; with the default rules, and with a list that decides.
import { publish, QUEUE } from './support/flows.ts';
import { type Flow, type LoadResult, load, post } from './support/load.ts';
import { processorSeconds, treeSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row, ratioRow } from './support/report.ts';
import { type BenchAccount, postmasterPid, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const WARM_UP_SECONDS = Number(process.env.BENCH_WARM_UP_SECONDS ?? 10);
const CALLS = 20_000;

const service = await startBenchService(2);
const { url } = service;
const [account, listed] = service.accounts as [BenchAccount, BenchAccount];
const postmaster = await postmasterPid(service.connection);

function scores(of: BenchAccount, input: (n: number) => object): Flow {
  const requests = Array.from({ length: CALLS }, (_, n) =>
    post(url, '/v1/risk/score', of.secret, JSON.stringify({ event: 'login', ...input(n) })),
  );
  let sent = 0;
  return {
    next() {
      sent += 1;
      return requests[sent % CALLS] as Buffer;
    },
  };
}

const all = (n: number, keys: number) => ({
  ip: `10.${(n >> 8) % 256}.${n % Math.min(keys, 256)}.${Math.floor(n / keys) % 4}`,
  user_id: `u-${n % keys}`,
  device_id: `d-${n % keys}`,
  email: `m${n % keys}@example.org`,
});

const flows: Readonly<Record<string, Flow>> = {
  'queue.publish': publish(url, account),
  'a user alone, 20,000 of them': scores(account, (n) => ({ user_id: `u-${n}` })),
  'four keys, 2,000 of each': scores(account, (n) => all(n, 2_000)),
  'four keys, 10 of each': scores(account, (n) => all(n, 10)),
  'four keys, on the allow list': scores(listed, (n) => all(n, 2_000)),
};

async function call(of: BenchAccount, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${of.secret}`, 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}
await call(account, '/v1/queue/create', { name: QUEUE }).catch(() => undefined);
await call(listed, '/v1/risk/list/add', { list: 'allow', kind: 'cidr', value: '10.0.0.0/8' });

interface Measured extends LoadResult {
  readonly nodeUs: number;
  readonly postgresUs: number;
}

async function measure(flow: Flow, seconds = SECONDS): Promise<Measured> {
  const before = [processorSeconds(service.pid), treeSeconds(postmaster)] as const;
  const result = await load({ url, connections: CONNECTIONS, seconds, flow });
  if (result.failed > 0) throw new Error(`${result.failed} calls failed`);
  const micros = (spent: number) => (spent / result.calls) * 1e6;
  return {
    ...result,
    nodeUs: micros(processorSeconds(service.pid) - before[0]),
    postgresUs: micros(treeSeconds(postmaster) - before[1]),
  };
}

const found = new Map<string, Measured[]>(Object.keys(flows).map((name) => [name, []]));
for (const flow of Object.values(flows)) await measure(flow, WARM_UP_SECONDS);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, flow] of Object.entries(flows)) found.get(name)?.push(await measure(flow));
}
const of = (name: string, figure: keyof Measured) => (found.get(name) ?? []).map((run) => run[figure]);
const rows = Object.keys(flows).flatMap((name): Row[] => {
  const cpu = `${median(of(name, 'nodeUs')).toFixed(0)} µs Node, ${median(of(name, 'postgresUs')).toFixed(0)} µs PostgreSQL a call`;
  const value = `${perSecond(median(of(name, 'rate')))}; ${cpu}; p99 ${median(of(name, 'p99Ms')).toFixed(1)} ms`;
  if (name === 'queue.publish') return [{ what: name, value }];
  const ratios = of(name, 'rate').map((rate, round) => rate / (of('queue.publish', 'rate')[round] as number));
  return [{ what: name, value }, ratioRow(`${name} / queue.publish`, ratios, 0.5)];
});
print(`Scores at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s)`, rows);
await service.stop();
