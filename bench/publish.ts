// What does durability, billing and idempotency cost? Publish and consume+ack against the no-op of the same server, 64 connections.
import { BODY, consumeAndAck, noop, publish, publishFromAll, publishWithKeys, QUEUE } from './support/flows.ts';
import { type Flow, type LoadResult, load } from './support/load.ts';
import { processorSeconds, treeSeconds } from './support/processor.ts';
import { median, perSecond, print, ratioRow } from './support/report.ts';
import { postmasterPid, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const WALLETS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);

const service = await startBenchService(WALLETS);
const { url, accounts } = service;
const [account] = accounts;
if (account === undefined) throw new Error('no account');
for (const { secret } of accounts) await service.call(secret, '/v1/queue/create', { name: QUEUE });
const postmaster = await postmasterPid(service.connection);
const results = new Map<string, (LoadResult & { nodeUs: number; postgresUs: number })[]>();

async function run(name: string, flow: Flow): Promise<void> {
  const before = [processorSeconds(service.pid), treeSeconds(postmaster)] as const;
  const result = await load({ url, connections: CONNECTIONS, seconds: SECONDS, flow });
  if (result.failed > 0) throw new Error(`${name}: ${result.failed} calls failed`);
  const nodeUs = ((processorSeconds(service.pid) - before[0]) / result.calls) * 1e6;
  const postgresUs = ((treeSeconds(postmaster) - before[1]) / result.calls) * 1e6;
  results.set(name, [...(results.get(name) ?? []), { ...result, nodeUs, postgresUs }]);
}

const flows: [string, () => Flow][] = [
  ['noop', () => noop(url, account)],
  ['publish', () => publish(url, account)],
  ['with keys', () => publishWithKeys(url, account)],
  ['64 wallets', () => publishFromAll(url, accounts)],
  ['consume+ack', () => consumeAndAck(url, account)],
];
await load({ url, connections: CONNECTIONS, seconds: SECONDS, flow: publish(url, account) });
await load({ url, connections: CONNECTIONS, seconds: 1, flow: consumeAndAck(url, account) });
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, flow] of flows) await run(name, flow());
}

const of = (name: string) => results.get(name) ?? [];
const against = (name: string, other: string) =>
  of(name).map((result, i) => result.rate / (of(other)[i]?.rate ?? Number.NaN));
print(
  `Calls at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s, bodies of ${BODY.length} bytes)`,
  [
    ratioRow('publish / no-op', against('publish', 'noop'), 0.75),
    ratioRow('publish with idempotency keys / no-op', against('with keys', 'noop'), 0.6),
    ratioRow('consume+ack of single messages / no-op, per call', against('consume+ack', 'noop'), 0.8),
    ratioRow('64 wallets / one hot wallet', against('64 wallets', 'publish'), 0.5),
    ...flows.map(([name]) => {
      const p50 = median(of(name).map((result) => result.p50Ms));
      const p99 = median(of(name).map((result) => result.p99Ms));
      const rate = perSecond(median(of(name).map((result) => result.rate)));
      const cpu = `${median(of(name).map((result) => result.nodeUs)).toFixed(0)} µs Node, ${median(of(name).map((result) => result.postgresUs)).toFixed(0)} µs PostgreSQL a call`;
      return {
        what: name,
        value: `${rate}; ${cpu}; p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
        target: 'p99 ≤ 10 x p50',
        met: p99 <= 10 * p50,
      };
    }),
  ],
);
await service.stop();
