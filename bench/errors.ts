// Captures per second, durable and billed, against the no-op of the same server with the same body: one hot fingerprint and 2,000 of
// them, bodies of 1, 5 and 50 KB. Then how long list, groups and search take with 1,000,000 events stored; BENCH_ONLY=reads: that alone.

import { Database } from '../src/db/database.ts';
import { makePartitionsAhead } from '../src/db/partitions.ts';
import { DAY_MS } from '../src/lib/time.ts';
import { errorBody } from './support/error-events.ts';
import { type Flow, get, type LoadResult, load, post } from './support/load.ts';
import { processorSeconds, treeSeconds } from './support/processor.ts';
import { median, perSecond, print, type Row, ratioRow } from './support/report.ts';
import { type BenchAccount, postmasterPid, query, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
// V8 compiles the way of a capture for its first ten seconds at full load: 66 µs a call on threads beside, then 30.
const WARM_UP_SECONDS = 10;
const FINGERPRINTS = 2_000;
const SIZES = [1, 5, 50] as const;
// One for each core here.
const READERS = 2;
const READ_SECONDS = 5;

const service = await startBenchService(2);
const { url } = service;
const [busy, large] = service.accounts as [BenchAccount, BenchAccount];
const postmaster = await postmasterPid(service.connection);

/** Requests written before the clock runs, sent round and round. */
function inTurn(requests: readonly Buffer[]): Flow {
  let sent = 0;
  return {
    next() {
      sent += 1;
      return requests[sent % requests.length] as Buffer;
    },
  };
}

function sends(path: string, account: BenchAccount, bodies: readonly string[]): Flow {
  return inTurn(bodies.map((body) => post(url, path, account.secret, body)));
}

interface Measured extends LoadResult {
  readonly nodeUs: number;
  readonly postgresUs: number;
}

async function measure(flow: Flow, seconds = SECONDS): Promise<Measured> {
  const before = [processorSeconds(service.pid), treeSeconds(postmaster)] as const;
  const result = await load({ url, connections: CONNECTIONS, seconds, flow });
  if (result.failed > 0) throw new Error(`${result.failed} calls failed`);
  const micros = (seconds: number) => (seconds / result.calls) * 1e6;
  return {
    ...result,
    nodeUs: micros(processorSeconds(service.pid) - before[0]),
    postgresUs: micros(treeSeconds(postmaster) - before[1]),
  };
}

function bodiesOf(bytes: number, fingerprints: number): string[] {
  return Array.from({ length: FINGERPRINTS }, (_, n) => errorBody(n, `f-${bytes}-${n % fingerprints}`, bytes).text);
}

const kinds = ['no-op', 'one fingerprint', `${FINGERPRINTS} fingerprints`] as const;
const captures: Row[] = [];
for (const kilobytes of process.env.BENCH_ONLY === 'reads' ? [] : SIZES) {
  const bodies = { hot: bodiesOf(kilobytes * 1_024, 1), spread: bodiesOf(kilobytes * 1_024, FINGERPRINTS) };
  const flows = [
    () => sends('/v1/bench/noop_long', busy, bodies.hot),
    () => sends('/v1/errors/capture', busy, bodies.hot),
    () => sends('/v1/errors/capture', busy, bodies.spread),
  ];
  for (const flow of flows) await measure(flow(), kilobytes === SIZES[0] ? WARM_UP_SECONDS : 2);
  const found: Measured[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [i, flow] of flows.entries()) found[i]?.push(await measure(flow()));
  }
  const of = (i: number, figure: keyof Measured) => (found[i] ?? []).map((run) => run[figure]);
  for (const i of [1, 2]) {
    const ratios = of(i, 'rate').map((rate, round) => rate / (of(0, 'rate')[round] as number));
    captures.push(ratioRow(`captures of ${kilobytes} KB, ${kinds[i]} / no-op`, ratios, kilobytes > 5 ? 0.3 : 0.4));
  }
  for (const [i, kind] of kinds.entries()) {
    const rate = median(of(i, 'rate'));
    const cpu = `${median(of(i, 'nodeUs')).toFixed(0)} µs Node, ${median(of(i, 'postgresUs')).toFixed(0)} µs PostgreSQL a call`;
    const isMark = kilobytes === 5 && i > 0;
    captures.push({
      what: `${kilobytes} KB, ${kind}`,
      value: `${perSecond(rate)}; ${cpu}; p50 ${median(of(i, 'p50Ms')).toFixed(1)} ms, p99 ${median(of(i, 'p99Ms')).toFixed(1)} ms`,
      ...(isMark ? { target: '≥ 4,000/s', met: rate >= 4_000 } : {}),
    });
  }
}
print(`Captures at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s)`, captures);

/** Captured events, and copies of them a minute apart back in time: what matters is how many there are, of how many words. */
async function fill(events: number): Promise<void> {
  const captured = FINGERPRINTS * 2;
  const bodies = Array.from({ length: captured }, (_, n) =>
    post(url, '/v1/errors/capture', large.secret, errorBody(n, `f-${n % FINGERPRINTS}`, 1_024).text),
  );
  await load({ url, connections: CONNECTIONS, seconds: 600, flow: { next: () => bodies.pop() ?? null } });
  const db = new Database({ connection: service.connection });
  for (const days of [1, 0]) await makePartitionsAhead(db, Date.now() - days * DAY_MS);
  await db.end();
  const copies = Math.ceil(events / captured) - 1;
  // Each copy has a word of its own in place of the request's.
  await query(
    service.connection,
    `INSERT INTO errors.event
     SELECT e.account_id, e.seq - n * (60000::bigint << 22), e.group_id, e.level, e.title, e.message, e.environment, e.release, e.user_id,
            e.occurred_at, e.tags, e.detail_seq, e.detail_line, e.words,
            e.terms || array_to_tsvector(ARRAY[left((tsvector_to_array(e.terms))[1], 5) || 'copy' || n || 'x' || (e.seq % 100000)])
       FROM errors.event e, generate_series(1, ${copies}) n WHERE e.account_id = '${large.accountId}'`,
  );
  const account = `account_id = '${large.accountId}'`;
  await query(service.connection, `UPDATE errors.day_count SET events = events * ${copies + 1} WHERE ${account}`);
  await query(service.connection, `UPDATE errors.error_group SET count = count * ${copies + 1} WHERE ${account}`);
  await query(service.connection, 'VACUUM ANALYZE errors.event');
  await query(service.connection, 'CHECKPOINT');
}

await fill(EVENTS);
const [stored] = await query<{ n: bigint }>(
  service.connection,
  `SELECT count(*) AS n FROM errors.event WHERE account_id = '${large.accountId}'`,
);
const listed = (await (
  await fetch(`${url}/v1/errors/groups?limit=1`, { headers: { authorization: `Bearer ${large.secret}` } })
).json()) as { data: { groups: { error_group_id: string }[] } };
const groupId = listed.data.groups[0]?.error_group_id as string;
const reads: Record<string, readonly string[]> = {
  'list, all': ['/v1/errors/list'],
  'list, by environment': ['/v1/errors/list?filter[environment]=staging'],
  'list, by level and tag': ['/v1/errors/list?filter[level]=warning&filter[tags.worker]=w10'],
  'list, by user': Array.from({ length: 100 }, (_, n) => `/v1/errors/list?filter[user_id]=user-${n * 37}`),
  'list, by group': [`/v1/errors/list?filter[error_group_id]=${groupId}`],
  'list, by status': ['/v1/errors/list?filter[is_resolved]=false'],
  'groups, latest first': ['/v1/errors/groups'],
  'groups, by count': ['/v1/errors/groups?sort=count_desc'],
  group_detail: [`/v1/errors/group_detail/${groupId}`],
  'search, a word of every event': ['/v1/errors/search?q=service'],
  'search, words of one in forty': ['/v1/errors/search?q=billing%20refused'],
  'search, a word of one in 1,000': Array.from({ length: 100 }, (_, n) => `/v1/errors/search?q=${n * 9}%20after`),
  'search, a rare word': Array.from(
    { length: 100 },
    (_, n) => `/v1/errors/search?q=r${n.toString(36).padStart(7, '0')}`,
  ),
  'search, a word that is nowhere': ['/v1/errors/search?q=nowhere'],
};
const times: Row[] = [];
for (const [what, paths] of Object.entries(reads)) {
  const flow = inTurn(paths.map((path) => get(url, encodeURI(path), large.secret)));
  await load({ url, connections: READERS, seconds: 1, flow });
  const { p50Ms, p99Ms, rate, failed } = await load({ url, connections: READERS, seconds: READ_SECONDS, flow });
  if (failed > 0) throw new Error(`${what}: ${failed} calls failed`);
  const value = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms; ${perSecond(rate)}`;
  times.push({ what, value, target: 'p99 ≤ 50 ms', met: p99Ms <= 50 });
}
print(`Reads with ${stored?.n} events stored, ${READERS} connections`, times);
await service.stop();
