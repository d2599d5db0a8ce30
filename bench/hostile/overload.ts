// Far more load than is possible: how much is still accepted, how soon, and what does it take in memory? Before and after it the same
// accounts call on few connections, which is what the service can do.
import { setTimeout as sleep } from 'node:timers/promises';
import { BODY } from '../support/flows.ts';
import { post } from '../support/load.ts';
import { perSecond, type Row } from '../support/report.ts';
import type { BenchAccount, BenchService } from '../support/service.ts';
import type { AttackReport } from './attacker.ts';
import { attack } from './children.ts';
import { peakMemory, settled } from './measure.ts';
import { addresses } from './scenarios.ts';

const CONNECTIONS = 64;
const FAR_TOO_MANY = 3_000;
const PROCESSES = 2;
const UNLOADED_SECONDS = 4;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 8);
const ACCEPTED_MIN = 0.8;
const P99_MS_MAX = 500;
const SETTLE_SECONDS_MAX = 30;

export async function overload(
  service: BenchService,
  accounts: readonly BenchAccount[],
  growthMbMax: number,
): Promise<Row[]> {
  const { url } = service;
  const requests = accounts.map(({ secret }) => post(url, '/v1/queue/publish', secret, BODY));
  const calls = (connections: number, processes: number, seconds: number) =>
    attack(
      Array.from({ length: processes }, (_, n) => ({
        url,
        seconds,
        connections: connections / processes,
        addresses: addresses(10 + n, accounts.length),
        manner: 'calls' as const,
        requests: [...requests],
      })),
    );
  const accepted = ({ statuses }: AttackReport, seconds: number) => (statuses['200'] ?? 0) / seconds;
  await settled(url, SETTLE_SECONDS_MAX);
  await calls(CONNECTIONS, 1, UNLOADED_SECONDS);
  const first = accepted(await calls(CONNECTIONS, 1, UNLOADED_SECONDS), UNLOADED_SECONDS);
  const startMb = service.memoryMb();
  const [report, peakMb] = await peakMemory(service, calls(FAR_TOO_MANY, PROCESSES, SECONDS));
  const settleSeconds = await settled(url, SETTLE_SECONDS_MAX);
  await sleep(1_000);
  const last = accepted(await calls(CONNECTIONS, 1, UNLOADED_SECONDS), UNLOADED_SECONDS);
  const unloaded = (first + last) / 2;
  const rate = accepted(report, SECONDS);
  const times = [...report.times].sort((a, b) => a - b);
  const p99Ms = times[Math.floor(times.length * 0.99)] ?? Number.NaN;
  const saw = Object.entries(report.statuses).map(([status, count]) => `${count.toLocaleString('en')} x ${status}`);
  return [
    {
      what: `overload by ${FAR_TOO_MANY.toLocaleString('en')} connections: accepted, of what ${CONNECTIONS} connections get`,
      value: `${(rate / unloaded).toFixed(2)} (${perSecond(rate)} of ${perSecond(unloaded)}; ${saw.join(', ')}); quiet after ${settleSeconds.toFixed(1)} s`,
      target: `≥ ${ACCEPTED_MIN}`,
      met: rate / unloaded >= ACCEPTED_MIN,
    },
    {
      what: 'the accepted, p99',
      value: `${p99Ms.toFixed(0)} ms`,
      target: `≤ ${P99_MS_MAX} ms`,
      met: p99Ms <= P99_MS_MAX,
    },
    {
      what: 'resident meanwhile',
      value: `${startMb.toFixed(0)} + ${(peakMb - startMb).toFixed(0)} MB`,
      target: `≤ + ${growthMbMax} MB`,
      met: peakMb - startMb <= growthMbMax,
    },
  ];
}
