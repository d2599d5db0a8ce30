// Analytics: processor time of an event that is captured, bytes of a stored one, and how long questions take over 10,000,000 events of a week
// (BENCH_EVENTS). Ratios are to a call that reads little.
import { eventNames, fillWeek, propertiesOf } from './support/event-blocks.ts';
import { type Flow, get, load, post } from './support/load.ts';
import { processorSeconds, treeSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row } from './support/report.ts';
import { type BenchAccount, postmasterPid, query, startBenchService } from './support/service.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 9_800_000);
const BATCH = 1_000;
const BATCHES = 60;
const ROUNDS = 3;
const ASKED = 7;
const DAY_MS = 86_400_000;

const service = await startBenchService(2);
const { url } = service;
const [busy, large] = service.accounts as [BenchAccount, BenchAccount];
const postmaster = await postmasterPid(service.connection);

let captured = 0;
function batch(): Buffer {
  const events = Array.from({ length: BATCH }, () => {
    captured += 1;
    const [event, distinct_id] = [eventNames[captured % eventNames.length], `u${captured % 20_000}`];
    return { event, distinct_id, uuid: `event-${captured}`, properties: propertiesOf() };
  });
  return post(url, '/v1/analytics/capture', busy.secret, JSON.stringify({ items: events }));
}

async function ingest(): Promise<{ nodeUs: number; postgresUs: number; rate: number }> {
  const waiting = Array.from({ length: BATCHES }, batch);
  const flow: Flow = { next: () => waiting.pop() ?? null };
  const before = [processorSeconds(service.pid), treeSeconds(postmaster)] as const;
  const { calls, failed, seconds } = await load({ url, connections: 4, seconds: 600, flow });
  if (failed > 0) throw new Error(`${failed} calls failed`);
  const micros = (used: number) => (used / (calls * BATCH)) * 1e6;
  return {
    nodeUs: micros(processorSeconds(service.pid) - before[0]),
    postgresUs: micros(treeSeconds(postmaster) - before[1]),
    rate: (calls * BATCH) / seconds,
  };
}

await ingest();
const runs = [];
for (let round = 0; round < ROUNDS; round += 1) runs.push(await ingest());
const nodeUs = median(runs.map((run) => run.nodeUs));
print(`Capture, ${ROUNDS} rounds of ${BATCHES} batches of ${BATCH} at 4 connections`, [
  {
    what: 'an event, all in',
    value: `${nodeUs.toFixed(1)} µs Node, ${median(runs.map((run) => run.postgresUs)).toFixed(1)} µs PostgreSQL`,
  },
  { what: 'events a second on this machine', value: perSecond(median(runs.map(({ rate }) => rate))) },
]);

const endMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
await fillWeek(service.connection, large.accountId, EVENTS, endMs);
await query(service.connection, 'VACUUM ANALYZE core.block');
const [size] = await query<{ bytes: number; events: number }>(
  service.connection,
  `SELECT sum(octet_length(body) + octet_length(marks) + octet_length(summary) + 200)::float8 AS bytes, sum(records)::float8 AS events
     FROM core.block WHERE account_id = '${large.accountId}'`,
);

/** Median of the time that a question takes, one at a time. */
async function asked(request: Buffer): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < ASKED; i += 1) {
    let isSent = false;
    let told = '';
    const flow: Flow = {
      answered: (_, status, body) => {
        told = `${status} ${body.toString().slice(0, 300)}`;
      },
      next() {
        if (isSent) return null;
        isSent = true;
        return request;
      },
    };
    const before = performance.now();
    const { failed } = await load({ url, connections: 1, seconds: 60, flow });
    if (failed > 0) throw new Error(told);
    times.push(performance.now() - before);
  }
  return median(times);
}

const iso = (ms: number) => new Date(ms).toISOString();
const week = { from: iso(endMs - 7 * DAY_MS), to: iso(endMs) };
const ask = (what: string, body: object) => post(url, `/v1/analytics/${what}`, large.secret, JSON.stringify(body));
const hourly = { events: ['view'], ...week, interval: 'hour' };
const day = { from: iso(endMs - DAY_MS), to: iso(endMs) };
const steps = ['view', 'add_to_cart', 'checkout'].map((event) => ({ event }));
const questions: readonly (readonly [string, Buffer, number | null])[] = [
  ['trend of the week by hour', ask('trends', hourly), 400],
  ['the same with a filter', ask('trends', { ...hourly, filter: [{ field: 'plan', value: 'pro' }] }), null],
  ['the same of unique people', ask('trends', { ...hourly, math: 'uniques' }), null],
  ['the same by values of a property', ask('trends', { ...hourly, breakdown: 'country' }), null],
  ['unique people of a day', ask('trends', { events: ['view'], ...day, interval: 'day', math: 'uniques' }), null],
  ['a funnel of three steps', ask('funnel', { steps, ...week, window_seconds: 86_400 }), 2_000],
  [
    'retention by day',
    ask('retention', { start_event: 'sign_up', return_event: 'view', period: 'day', periods: 7 }),
    null,
  ],
];
const littleMs = await asked(get(url, '/v1/account/tier', large.secret));
const rows: Row[] = [
  { what: 'a stored event', value: `${((size?.bytes ?? 0) / (size?.events ?? 1)).toFixed(1)} bytes` },
  { what: 'a call that reads little (account.tier)', value: `${littleMs.toFixed(1)} ms` },
];
for (const [what, request, most] of questions) {
  await asked(request);
  const ms = await asked(request);
  const goal = most === null ? {} : { target: `≤ ${most} ms`, met: ms <= most };
  rows.push({ what, value: `${ms.toFixed(0)} ms, ${(ms / littleMs).toFixed(0)} times that`, ...goal });
}
print(`Questions over ${(size?.events ?? 0).toLocaleString('en')} events of one account and week, one at a time`, rows);
await service.stop();
