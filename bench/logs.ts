// Log records: processor time of an OTLP record, alone and through the service, bytes of a stored one, and how long questions take over
// 10,000,000 records of a day (BENCH_RECORDS). Ratios are to the no-op of the same server.
import { readLogsProtobuf } from '../src/modules/logs/ingest/otlp-protobuf.ts';
import { type Flow, get, load, post } from './support/load.ts';
import { fillDay, otlpBatch, otlpCall } from './support/log-records.ts';
import { processorSeconds, treeSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row } from './support/report.ts';
import { type BenchAccount, postmasterPid, query, startBenchService } from './support/service.ts';

const RECORDS = Number(process.env.BENCH_RECORDS ?? 10_000_000);
const BATCH = 1_000;
const BATCHES = 200;
const ROUNDS = 5;
const ASKED = 15;
const HOUR_MS = 3_600_000;

const bodies = Array.from({ length: BATCHES }, () => otlpBatch(BATCH));

// Reading alone: what a thread does with a body.
function readingUs(): number {
  const before = process.cpuUsage();
  for (const body of bodies) readLogsProtobuf(body, Date.now());
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (BATCHES * BATCH);
}
const readings = Array.from({ length: ROUNDS + 1 }, readingUs).slice(1);

const service = await startBenchService(2);
const { url } = service;
const [busy, large] = service.accounts as [BenchAccount, BenchAccount];
const postmaster = await postmasterPid(service.connection);

interface Measured {
  readonly rate: number;
  readonly nodeUs: number;
  readonly postgresUs: number;
}

async function measure(requests: readonly Buffer[], recordsEach: number): Promise<Measured> {
  const waiting = [...requests];
  const flow: Flow = { next: () => waiting.pop() ?? null };
  const before = [processorSeconds(service.pid), treeSeconds(postmaster)] as const;
  const { calls, failed, seconds } = await load({ url, connections: 4, seconds: 600, flow });
  if (failed > 0) throw new Error(`${failed} calls failed`);
  const micros = (used: number) => (used / (calls * recordsEach)) * 1e6;
  return {
    rate: (calls * recordsEach) / seconds,
    nodeUs: micros(processorSeconds(service.pid) - before[0]),
    postgresUs: micros(treeSeconds(postmaster) - before[1]),
  };
}

const runs: Measured[] = [];
const noops: Measured[] = [];
for (let round = 0; round <= ROUNDS; round += 1) {
  // Equal bodies would be one request.
  const run = await measure(
    Array.from({ length: BATCHES }, () => otlpCall(url, busy.secret, otlpBatch(BATCH))),
    BATCH,
  );
  const noop = await measure(
    Array.from({ length: 2_000 }, () => post(url, '/v1/bench/noop', busy.secret, '{}')),
    1,
  );
  if (round === 0) continue;
  runs.push(run);
  noops.push(noop);
}
const of = (all: readonly Measured[], figure: keyof Measured) => median(all.map((run) => run[figure]));
const cores = 1e6 / of(runs, 'nodeUs');
const [size] = await query<{ cols: number; marks: number; records: number; whole: number }>(
  service.connection,
  `SELECT sum(octet_length(body))::float8 AS cols, sum(octet_length(marks))::float8 AS marks, sum(records)::float8 AS records,
          sum(octet_length(body) + octet_length(marks) + octet_length(summary) + 200)::float8 AS whole
     FROM core.block WHERE account_id = '${busy.accountId}' AND replaced_ms IS NULL`,
);
const bytes = (size?.whole ?? 0) / (size?.records ?? 1);
const ingested: Row[] = [
  {
    what: 'reading a record of OTLP: decode, clean, cut, pack',
    value: `${median(readings).toFixed(1)} µs`,
    target: '≤ 10 µs',
    met: median(readings) <= 10,
  },
  {
    what: 'records a second of processor time of the service, batches of 1,000',
    value: perSecond(cores),
    target: '≥ 100,000/s',
    met: cores >= 100_000,
  },
  {
    what: 'a record, all in',
    value: `${of(runs, 'nodeUs').toFixed(1)} µs Node, ${of(runs, 'postgresUs').toFixed(1)} µs PostgreSQL; ${perSecond(of(runs, 'rate'))} on this machine`,
  },
  {
    what: 'a batch of 1,000 / a no-op, processor time of Node',
    value: `${((of(runs, 'nodeUs') * BATCH) / of(noops, 'nodeUs')).toFixed(0)}`,
  },
  {
    what: 'a stored record, with its share of marks and row',
    value: `${bytes.toFixed(1)} bytes`,
    target: '≤ 60',
    met: bytes <= 60,
  },
];
print(`Ingest by OTLP, ${ROUNDS} rounds of ${BATCHES} batches at 4 connections`, ingested);

const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const startedMs = performance.now();
await fillDay(service.connection, large.accountId, RECORDS, endMs, 'quokkaquake');
await query(service.connection, 'VACUUM ANALYZE core.block');
process.stderr.write(`filled in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s\n`);

/** Median of the time that a question takes, one at a time. */
async function asked(path: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < ASKED; i += 1) {
    const before = performance.now();
    const { failed } = await load({ url, connections: 1, seconds: 60, flow: once(path) });
    if (failed > 0) throw new Error(`${path} failed`);
    times.push(performance.now() - before);
  }
  return median(times);
}

function once(path: string): Flow {
  let isSent = false;
  return {
    next() {
      if (isSent) return null;
      isSent = true;
      return get(url, path, large.secret);
    },
  };
}

const iso = (ms: number) => new Date(ms).toISOString();
const day = `from=${iso(endMs - 24 * HOUR_MS)}&to=${iso(endMs)}`;
const questions: readonly (readonly [string, string, number])[] = [
  ['histogram of the day', `/v1/logs/histogram?${day}&interval_seconds=1800`, 50],
  ['last 100 errors', '/v1/logs/search?level=error&limit=100', 50],
  ['a rare word', '/v1/logs/search?q=quokkaquake', 300],
  ['a frequent part of a word, first page', '/v1/logs/search?q=prof&limit=100', 100],
  ['a trace that is not there', `/v1/logs/search?trace_id=${'ab'.repeat(16)}`, 300],
  ['fields of the day', `/v1/logs/fields?${day}`, 300],
  [
    'histogram of an hour with a word',
    `/v1/logs/histogram?q=charging&from=${iso(endMs - HOUR_MS)}&to=${iso(endMs)}`,
    5_000,
  ],
];
const noopMs = await asked('/v1/account/tier');
const rows: Row[] = [{ what: 'a call that reads little (account.tier)', value: `${noopMs.toFixed(1)} ms` }];
for (const [what, path, most] of questions) {
  await asked(path);
  const ms = await asked(path);
  rows.push({
    what,
    value: `${ms.toFixed(1)} ms, ${(ms / noopMs).toFixed(1)} times that`,
    target: `≤ ${most} ms`,
    met: ms <= most,
  });
}
print(`Questions over ${RECORDS.toLocaleString('en')} records of one account and day, one at a time`, rows);
await service.stop();
