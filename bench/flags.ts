// Evaluations of feature flags against the no-op of the same server, by the native call and by OFREP, and a bulk of 100 flags.
import { noop } from './support/flows.ts';
import { type Flow, type LoadResult, load, post } from './support/load.ts';
import { processorSeconds } from './support/processor.ts';
import { median, perSecond, print, ratioRow } from './support/report.ts';
import { type BenchAccount, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const FLAGS = 100;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);

const service = await startBenchService(1);
const { url } = service;
const [account] = service.accounts as [BenchAccount];
const targeting = {
  if: [
    { ends_with: [{ var: 'email' }, '@example.org'] },
    'on',
    {
      fractional: [
        ['on', 25],
        ['off', 75],
      ],
    },
  ],
};
const flag = { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off', targeting };
const flags = Object.fromEntries(Array.from({ length: FLAGS }, (_, at) => [`feature-${at}`, flag]));
await service.call(account.secret, '/v1/flags/import', { flags });

const contexts = Array.from({ length: 1_000 }, (_, at) => ({
  targetingKey: `user-${at}`,
  email: `u${at}@example.com`,
  plan: 'pro',
}));
const asks = (path: string, more: object = {}): Flow => {
  const requests = contexts.map((context) => post(url, path, account.secret, JSON.stringify({ ...more, context })));
  let asked = 0;
  return {
    next() {
      asked += 1;
      return requests[asked % requests.length] as Buffer;
    },
  };
};

const flows: [string, () => Flow][] = [
  ['no-op', () => noop(url, account)],
  ['evaluate', () => asks('/v1/flags/evaluate', { key: 'feature-1' })],
  ['OFREP', () => asks('/v1/flags/ofrep/v1/evaluate/flags/feature-1')],
  [`OFREP, all ${FLAGS} flags`, () => asks('/v1/flags/ofrep/v1/evaluate/flags')],
];
const results = new Map<string, (LoadResult & { nodeUs: number })[]>();
for (const [, flow] of flows) await load({ url, connections: CONNECTIONS, seconds: 1, flow: flow() });
for (let round = 0; round < ROUNDS; round += 1)
  for (const [name, flow] of flows) {
    const before = processorSeconds(service.pid);
    const result = await load({ url, connections: CONNECTIONS, seconds: SECONDS, flow: flow() });
    if (result.failed > 0) throw new Error(`${name}: ${result.failed} calls failed`);
    const nodeUs = ((processorSeconds(service.pid) - before) / result.calls) * 1e6;
    results.set(name, [...(results.get(name) ?? []), { ...result, nodeUs }]);
  }

const of = (name: string) => results.get(name) ?? [];
const against = (name: string) => of(name).map(({ rate }, round) => rate / (of('no-op')[round]?.rate ?? Number.NaN));
print(`Evaluations at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s)`, [
  ratioRow('evaluate / no-op', against('evaluate'), 0.8),
  ratioRow('OFREP / no-op', against('OFREP'), 0.8),
  ratioRow(`OFREP, all ${FLAGS} flags / no-op`, against(`OFREP, all ${FLAGS} flags`)),
  ...flows.map(([name]) => {
    const rates = of(name);
    const cpu = `${median(rates.map(({ nodeUs }) => nodeUs)).toFixed(0)} µs Node a call`;
    const times = `p50 ${median(rates.map(({ p50Ms }) => p50Ms)).toFixed(1)} ms, p99 ${median(rates.map(({ p99Ms }) => p99Ms)).toFixed(1)} ms`;
    return { what: name, value: `${perSecond(median(rates.map(({ rate }) => rate)))}; ${cpu}; ${times}` };
  }),
]);
await service.stop();
