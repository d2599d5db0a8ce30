// What do traces cost? The no-op and a publish with every trace recorded, with one in twenty, and without traces: by rate, and by
// processor time of the service, in turns side by side.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { noop, publish, QUEUE } from './support/flows.ts';
import { type Flow, load } from './support/load.ts';
import { fineSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row, ratioOfMedians } from './support/report.ts';
import { type BenchAccount, type BenchService, startBenchService } from './support/service.ts';

const CONNECTIONS = 32;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 21);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 0.5);

const collector = fork(new URL('./support/collector.ts', import.meta.url));
const [port] = (await once(collector, 'message')) as [number];
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
const someTraces = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.05' };
const kinds: [string, Record<string, string>][] = [
  ['off', {}],
  ['all', endpoint],
  ['one in twenty', { ...endpoint, ...someTraces }],
];

const services = new Map<string, BenchService>();
for (const [name, settings] of kinds) services.set(name, await startBenchService(1, 'off', 1, settings));

interface Turn {
  readonly rate: number;
  readonly nodeUs: number;
}

async function turn({ url, pid, accounts: [account] }: BenchService, flow: typeof noop): Promise<Turn> {
  const before = fineSeconds([pid]);
  const of: Flow = flow(url, account as BenchAccount);
  const { calls, rate, failed } = await load({ url, connections: CONNECTIONS, seconds: SECONDS, flow: of });
  // A busy machine refuses some.
  if (failed > calls / 100) throw new Error(`${failed} of ${calls} calls failed`);
  return { rate, nodeUs: ((fineSeconds([pid]) - before) / calls) * 1e6 };
}

const turns = new Map<string, Turn[]>();
const flows: [string, typeof noop][] = [
  ['no-op', noop],
  ['publish', publish],
];
for (const { accounts, call } of services.values())
  await call((accounts[0] as BenchAccount).secret, '/v1/queue/create', { name: QUEUE });
for (let round = -3; round < ROUNDS; round += 1) {
  for (const [what, flow] of flows) {
    for (const [name, service] of services) {
      const result = await turn(service, flow);
      // The first ones warm up.
      if (round >= 0) turns.set(`${what} ${name}`, [...(turns.get(`${what} ${name}`) ?? []), result]);
    }
  }
}

const of = (what: string, name: string) => turns.get(`${what} ${name}`) as Turn[];
/** Rates say little where others use the machine too: what is judged is processor time. */
function costs(what: string, name: string): Row {
  const pairs = of(what, name).map(({ nodeUs }, i) => [nodeUs, (of(what, 'off')[i] as Turn).nodeUs] as const);
  const { ratio, low, high } = ratioOfMedians(pairs);
  const value = `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
  return { what: `${what}: processor time, traces of ${name} / none`, value };
}
const figures = (what: string, name: string): Row => {
  const rate = perSecond(median(of(what, name).map((one) => one.rate)));
  const us = median(of(what, name).map(({ nodeUs }) => nodeUs));
  return { what: `${what}, ${name}`, value: `${us.toFixed(1)} µs of Node a call, ${rate}` };
};
print(`Traces, at ${CONNECTIONS} connections (${ROUNDS} interleaved turns of ${SECONDS} s)`, [
  ...flows.flatMap(([what]) => [
    costs(what, 'all'),
    costs(what, 'one in twenty'),
    ...kinds.map(([name]) => figures(what, name)),
  ]),
]);
for (const service of services.values()) await service.stop();
collector.disconnect();
