// What does a configured auto-recharge cost the commit of the wallet? Publish with a trigger far below the balance against publish without
// one, by the same account on the same server and the same 64 connections, in many short turns side by side, each pair the other way round.
import type { Client } from 'pg';
import { withClient } from '../src/db/client.ts';
import { publish, QUEUE } from './support/flows.ts';
import { loadOn, openLines } from './support/load.ts';
import { fineSeconds, treeOf } from './support/processor.ts';
import { boundedRow, print, ratioOfMedians } from './support/report.ts';
import { type BenchAccount, postmasterPid, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const PAIRS = Number(process.env.BENCH_PAIRS ?? 450);
const SECONDS = 0.05;

const service = await startBenchService(1);
const [account] = service.accounts as [BenchAccount];
await service.call(account.secret, '/v1/queue/create', { name: QUEUE });

const postmaster = await postmasterPid(service.connection);
const lines = await openLines(service.url, CONNECTIONS);
const flow = publish(service.url, account);

/** Of the service and PostgreSQL; known once its connections are open. */
let processes: readonly number[] = [];

async function turn(client: Client, isConfigured: boolean, seconds = SECONDS) {
  const trigger = isConfigured ? '5000000000' : 'NULL';
  await client.query(`UPDATE core.wallet SET recharge_trigger_nanos = ${trigger}`);
  const before = fineSeconds(processes);
  const { rate, calls, failed } = await loadOn(lines, { seconds, flow });
  if (failed > 0) throw new Error(`${failed} calls failed`);
  return { rate, perSecondOfProcessor: calls / (fineSeconds(processes) - before) };
}

const rates: [number, number][] = [];
const costs: [number, number][] = [];
await withClient(service.connection, async (client) => {
  await turn(client, false, 5);
  processes = [service.pid, ...treeOf(postmaster)];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const isFirst = pair % 2 === 0;
    const one = await turn(client, isFirst);
    const other = await turn(client, !isFirst);
    const [configured, without] = isFirst ? [one, other] : [other, one];
    rates.push([configured.rate, without.rate]);
    costs.push([configured.perSecondOfProcessor, without.perSecondOfProcessor]);
  }
});
for (const line of lines) line.end();
print(
  `Publish at ${CONNECTIONS} connections (${PAIRS} pairs of turns of ${SECONDS * 1_000} ms; 95 of 100 in brackets)`,
  [
    boundedRow('calls a second, with a configured auto-recharge / without', ratioOfMedians(rates), 0.98),
    boundedRow('calls a second of processor time, with / without', ratioOfMedians(costs), 0.98),
  ],
);
await service.stop();
