// What does a configured auto-recharge cost the commit of the wallet? Publish with a trigger far below the balance against publish without
// one, by the same account on the same server, 64 connections, in short interleaved turns. Processor time per call tells more on a busy machine.
import { publish, QUEUE } from './support/flows.ts';
import { load } from './support/load.ts';
import { processorSeconds, treeSeconds } from './support/processor.ts';
import { print, ratioRow } from './support/report.ts';
import { type BenchAccount, postmasterPid, query, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 30);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);

const service = await startBenchService(1);
const [account] = service.accounts as [BenchAccount];
await service.call(account.secret, '/v1/queue/create', { name: QUEUE });

const postmaster = await postmasterPid(service.connection);
const spent = () => processorSeconds(service.pid) + treeSeconds(postmaster);

async function run(isConfigured: boolean, seconds = SECONDS) {
  const trigger = isConfigured ? '5000000000' : 'NULL';
  await query(service.connection, `UPDATE core.wallet SET recharge_trigger_nanos = ${trigger}`);
  const before = spent();
  const flow = publish(service.url, account);
  const { rate, calls, failed } = await load({ url: service.url, connections: CONNECTIONS, seconds, flow });
  if (failed > 0) throw new Error(`${failed} calls failed`);
  return { rate, perCall: (spent() - before) / calls };
}

await run(false, 4);
const rates: number[] = [];
const costs: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const isOdd = round % 2 === 1;
  const turns = [await run(isOdd), await run(!isOdd)] as const;
  const [configured, without] = isOdd ? turns : [turns[1], turns[0]];
  rates.push(configured.rate / without.rate);
  costs.push(without.perCall / configured.perCall);
}
print(`Publish at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s)`, [
  ratioRow('calls a second, with a configured auto-recharge / without', rates, 0.98),
  ratioRow('calls a second of processor time, with / without', costs, 0.98),
]);
await service.stop();
