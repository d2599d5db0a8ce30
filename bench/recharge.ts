// What does a configured auto-recharge cost the commit of the wallet? Publish with a trigger far below the balance against publish without
// one, on the same server, 64 connections, in short interleaved turns.
import { publish, QUEUE } from './support/flows.ts';
import { load } from './support/load.ts';
import { print, ratioRow } from './support/report.ts';
import { type BenchAccount, query, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1.5);

const service = await startBenchService(2);
const [without, configured] = service.accounts as [BenchAccount, BenchAccount];
for (const { secret } of service.accounts) await service.call(secret, '/v1/queue/create', { name: QUEUE });
await query(
  service.connection,
  `UPDATE core.wallet SET recharge_trigger_nanos = 5000000000 WHERE account_id = '${configured.accountId}'`,
);

async function rate(account: BenchAccount, seconds = SECONDS): Promise<number> {
  const result = await load({
    url: service.url,
    connections: CONNECTIONS,
    seconds,
    flow: publish(service.url, account),
  });
  if (result.failed > 0) throw new Error(`${result.failed} calls failed`);
  return result.rate;
}

for (const account of [without, configured]) await rate(account, 3);
const ratios: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const isOdd = round % 2 === 1;
  const [first, second] = isOdd ? [configured, without] : [without, configured];
  const rates = [await rate(first), await rate(second)] as const;
  ratios.push(isOdd ? rates[0] / rates[1] : rates[1] / rates[0]);
}
print(`Publish at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s)`, [
  ratioRow('with a configured auto-recharge / without', ratios, 0.98),
]);
await service.stop();
