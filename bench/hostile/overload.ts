// Far more load than is possible: how much is still accepted, how soon, and what does it take in memory? Before and after it the same
// accounts call on few connections, which is what the service can do.
import { BODY } from '../support/flows.ts';
import { post } from '../support/load.ts';
import { perSecond, type Row } from '../support/report.ts';
import type { BenchAccount, BenchService } from '../support/service.ts';
import type { AttackOrder, AttackReport } from './attacker.ts';
import { attack, inWords } from './children.ts';
import { addresses } from './line.ts';
import { peakMemory, settled } from './measure.ts';

const CONNECTIONS = 64;
const FAR_TOO_MANY = 3_000;
const PROCESSES = 2;
const UNLOADED_SECONDS = 4;
const OFFERED = 10;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 8);
const ACCEPTED_MIN = 0.8;
const P99_MS_MAX = 500;
const SETTLE_SECONDS_MAX = 30;

/** Far too many connections that call again at once, and as many that call ten times as often as is possible, whatever comes back. */
const kinds = [
  { name: 'overload', manner: 'calls', what: 'that call again at once' },
  {
    name: 'flood',
    manner: 'floods',
    what: `that offer ${OFFERED} times what is possible, up to eight calls behind one another`,
  },
] as const;

export const overloadNames: readonly string[] = kinds.map(({ name }) => name);

export async function overload(
  service: BenchService,
  name: string,
  accounts: readonly BenchAccount[],
  growthMbMax: number,
): Promise<Row[]> {
  const { url } = service;
  const { manner, what } = kinds.find((kind) => kind.name === name) as (typeof kinds)[number];
  const requests = accounts.map(({ secret }) => post(url, '/v1/queue/publish', secret, BODY));
  const calls = async (connections: number, processes: number, seconds: number, offered?: number) => {
    const order = (n: number): AttackOrder => ({
      url,
      seconds,
      connections: connections / processes,
      addresses: addresses(10 + n, accounts.length),
      manner: offered === undefined ? 'calls' : manner,
      perSecond: (offered ?? 0) / processes,
      requests,
    });
    return attack(Array.from({ length: processes }, (_, n) => order(n)));
  };
  const unloadedRate = async () => accepted(await calls(CONNECTIONS, 1, UNLOADED_SECONDS), UNLOADED_SECONDS);
  await settled(service, SETTLE_SECONDS_MAX);
  await unloadedRate();
  const first = await unloadedRate();
  const startMb = service.memoryMb();
  const beside = calls(FAR_TOO_MANY, PROCESSES, SECONDS, first * OFFERED);
  const [[report, settleSeconds], peakMb] = await peakMemory(
    service,
    beside.then(async (seen) => [seen, await settled(service, SETTLE_SECONDS_MAX)] as const),
  );
  const unloaded = (first + (await unloadedRate())) / 2;
  const rate = accepted(report, SECONDS);
  const times = [...report.times].sort((a, b) => a - b);
  const p99Ms = times[Math.floor(times.length * 0.99)] ?? Number.NaN;
  return [
    {
      what: `${FAR_TOO_MANY.toLocaleString('en')} connections ${what}: accepted, of what ${CONNECTIONS} connections get`,
      value: `${(rate / unloaded).toFixed(2)} (${perSecond(rate)} of ${perSecond(unloaded)}; ${inWords(report)}); quiet after ${settleSeconds.toFixed(1)} s`,
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

function accepted({ statuses }: AttackReport, seconds: number): number {
  return (statuses['200'] ?? 0) / seconds;
}
