// The same remote writes to this service and to Debian's Prometheus and victoria-metrics, in turns of one run: processor time a sample of all that each
// of them runs, PostgreSQL included. Ours is durable and billed when it answers, theirs is in memory and a log.
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../../src/db/client.ts';
import { labelsOf } from '../../src/modules/metrics/promql/labels.ts';
import {
  hasPrometheus,
  hasVictoria,
  type Prometheus,
  remoteWrite,
  remoteWriteHeaders,
  startPrometheus,
  startVictoria,
} from '../../test/metrics/prometheus.ts';
import { treeSeconds } from './processor.ts';
import { median, print, type Row, ratioRow } from './report.ts';
import { type BenchAccount, type BenchService, postmasterPid, startBenchService } from './service.ts';

const SERIES = 1_000;
const NEW_SERIES = 100_000;
const STEP_MS = 5_000;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const WRITES = Number(process.env.BENCH_WRITES ?? 60);
/** V8 compiles the way of a write in so many of them. */
const WARM_UP_WRITES = 240;
/** What was written is packed and flushed in the background. */
const SETTLE_MS = 2_000;

interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Roots of its processes. */
  readonly pids: readonly number[];
}

/** A sample of each series, as a scrape has it. `host`: what its instances begin with. */
function bodyAt(timeMs: number, i: number, host = 'host'): Buffer<ArrayBuffer> {
  const series = Array.from({ length: SERIES }, (_, n) => {
    const labels = labelsOf([
      ['__name__', `metric_${n % 50}`],
      ['instance', `${host}-${n}`],
      ['job', 'node'],
    ]);
    const value = n % 4 < 2 ? i * (n + 1) : Math.round(Math.sin(i / 50 + n) * 1e4) / 100;
    return { labels, times: Float64Array.of(timeMs), values: Float64Array.of(value) };
  });
  return remoteWrite(series);
}

async function send({ url, headers }: Target, bodies: readonly Buffer<ArrayBuffer>[]): Promise<void> {
  for (const body of bodies) {
    const reply = await fetch(url, { method: 'POST', headers: { ...remoteWriteHeaders, ...headers }, body });
    if (!reply.ok) throw new Error(`${url} answers ${reply.status}: ${await reply.text()}`);
    await reply.arrayBuffer();
  }
}

async function measure(target: Target, bodies: readonly Buffer<ArrayBuffer>[]): Promise<number> {
  const seconds = () => target.pids.reduce((sum, pid) => sum + treeSeconds(pid), 0);
  const before = seconds();
  await send(target, bodies);
  await sleep(SETTLE_MS);
  return ((seconds() - before) / (bodies.length * SERIES)) * 1e6;
}

async function ourselves(service: BenchService): Promise<Target> {
  const { secret } = service.accounts[0] as BenchAccount;
  return {
    name: 'Quartermaster',
    url: `${service.url}/v1/metrics/prometheus/api/v1/write`,
    headers: { authorization: `Bearer ${secret}` },
    pids: [...new Set([service.pid, await postmasterPid(service.connection)])],
  };
}

/** Prints what 100,000 series cost that nobody sent before, beside the same samples once more. */
export async function benchNewSeries(): Promise<void> {
  const service = await startBenchService();
  try {
    await withClient(service.connection, (client) =>
      client.query(`UPDATE core.account SET tier = 'enterprise' WHERE account_id = $1`, [
        service.accounts[0]?.accountId,
      ]),
    );
    const target = await ourselves(service);
    const firstMs = Math.floor(Date.now() / STEP_MS) * STEP_MS - (WARM_UP_WRITES + 2) * STEP_MS;
    for (let i = 0; i < WARM_UP_WRITES; i += 1) await send(target, [bodyAt(firstMs + i * STEP_MS, i)]);
    await sleep(SETTLE_MS);
    const of = (timeMs: number) =>
      Array.from({ length: NEW_SERIES / SERIES }, (_, i) => bodyAt(timeMs, i, `fresh-${i}`));
    const timeMs = firstMs + WARM_UP_WRITES * STEP_MS;
    const [fresh, known] = [await measureParts(target, of(timeMs)), await measureParts(target, of(timeMs + STEP_MS))];
    const row = (what: string, [own, postgres]: readonly [number, number]): Row => ({
      what,
      value: `${own.toFixed(1)} µs of the service and ${postgres.toFixed(1)} of PostgreSQL a sample`,
    });
    print(`${NEW_SERIES} series, ${SERIES} a write`, [row('new', fresh), row('the same once more', known)]);
  } finally {
    await service.stop();
  }
}

/** Of the service and of PostgreSQL. */
async function measureParts(target: Target, bodies: readonly Buffer<ArrayBuffer>[]): Promise<[number, number]> {
  const [own = 0, postgres = 0] = target.pids;
  const before = [treeSeconds(own), treeSeconds(postgres)];
  await send(target, bodies);
  await sleep(SETTLE_MS);
  const spent = [own, postgres].map((pid, i) => (treeSeconds(pid) - (before[i] ?? 0)) / (bodies.length * SERIES));
  return [(spent[0] ?? 0) * 1e6, (spent[1] ?? 0) * 1e6];
}

/** Prints the processor time a sample of each, and ours beside theirs. Nothing without their programs. */
export async function benchRemoteWrites(): Promise<void> {
  if (!hasPrometheus && !hasVictoria) return;
  const peers: [string, Prometheus][] = [];
  const service = await startBenchService();
  try {
    if (hasPrometheus) peers.push(['Prometheus', await startPrometheus()]);
    if (hasVictoria) peers.push(['victoria-metrics', await startVictoria()]);
    const others = peers.map(([name, { url, pid }]) => ({
      name,
      url: `${url}/api/v1/write`,
      headers: {},
      pids: [pid],
    }));
    const targets: Target[] = [await ourselves(service), ...others];
    const count = WARM_UP_WRITES + ROUNDS * WRITES;
    const firstMs = Math.floor(Date.now() / STEP_MS) * STEP_MS - count * STEP_MS;
    const bodies = Array.from({ length: count }, (_, i) => bodyAt(firstMs + i * STEP_MS, i));
    for (const target of targets) await send(target, bodies.slice(0, WARM_UP_WRITES));
    await sleep(SETTLE_MS);
    const found = targets.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round += 1) {
      const from = WARM_UP_WRITES + round * WRITES;
      for (const [i, target] of targets.entries()) {
        found[i]?.push(await measure(target, bodies.slice(from, from + WRITES)));
      }
    }
    const [ours = [], ...theirs] = found;
    const rows: Row[] = targets.map(({ name }, i) => ({
      what: `${name}, processor time a sample`,
      value: `${median(found[i] ?? []).toFixed(2)} µs`,
    }));
    for (const [i, times] of theirs.entries()) {
      const ratios = ours.map((own, round) => own / (times[round] as number));
      rows.push(ratioRow(`ours beside ${others[i]?.name}`, ratios));
    }
    print(`Remote writes of ${SERIES} samples, one after the other`, rows);
  } finally {
    for (const [, peer] of peers) await peer.stop();
    await service.stop();
  }
}
