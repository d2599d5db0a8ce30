// Language models: what the service adds to the time to the first content of a stream, beside one commit, and what a thousand open streams cost
// it and feel like to others. The vendor and the clients are processes of their own. BENCH_PARTS names some of: first, messages,
// relayed, open.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startVictim, Worker } from './hostile/children.ts';
import { publish, QUEUE } from './support/flows.ts';
import { load } from './support/load.ts';
import { CHAT_PATH, startModelsService } from './support/models.ts';
import { fineSeconds, treeOf } from './support/processor.ts';
import { median, print, type Row, slope } from './support/report.ts';
import { type BenchAccount, postmasterPid } from './support/service.ts';
import type { StreamsOrder, StreamsReport } from './support/streams.ts';

const PARTS = (process.env.BENCH_PARTS ?? 'first messages relayed open').split(/[\s,]+/);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const RELAYED_ROUNDS = 2;
const ONE_BY_ONE = 60;
const AT_ONCE = 64;
const OPEN = Number(process.env.BENCH_OPEN ?? 1_000);
const EVERY_MS = 50;
const OPEN_SECONDS = Number(process.env.BENCH_SECONDS ?? 32);
const OTHERS_PER_SECOND = 200;
const ACCOUNTS = 100;

const { service, vendorPort: port, stop } = await startModelsService(ACCOUNTS + 1);
const relay = fork(new URL('./support/chat-relay.ts', import.meta.url).pathname, [String(port)]);
const [relayPort] = (await once(relay, 'message')) as [number];
const [other, ...accounts] = service.accounts as [BenchAccount, ...BenchAccount[]];
await service.call(other.secret, '/v1/queue/create', { name: QUEUE });
const clients = new Worker<StreamsOrder, StreamsReport>('../support/streams.ts');

const path = CHAT_PATH;
const WHERE = {
  service: { url: service.url, path, secrets: accounts.map(({ secret }) => secret) },
  messages: {
    url: service.url,
    path: '/v1/messages',
    lastEvent: 'message_stop',
    secrets: accounts.map(({ secret }) => secret),
  },
  vendor: { url: `http://127.0.0.1:${port}`, path, secrets: ['none'] },
  relay: { url: `http://127.0.0.1:${relayPort}`, path, secrets: ['none'] },
};
type Where = (typeof WHERE)[keyof typeof WHERE];

async function streams(
  where: Where,
  order: Pick<StreamsOrder, 'connections' | 'pieces' | 'streams'>,
): Promise<StreamsReport> {
  const report = await clients.take({ ...where, ...order, everyMs: order.connections === 1 ? 1 : EVERY_MS });
  if (report.failed > 0) throw new Error(`${report.failed} streams failed`);
  return report;
}

const at = ({ firstMs }: StreamsReport, share: number) => firstMs[Math.floor(firstMs.length * share)] as number;
const shown = (...values: readonly number[]) => `${values.map((value) => value.toFixed(2)).join(', ')} ms`;

async function first(): Promise<void> {
  const alone = { connections: 1, pieces: 3, streams: ONE_BY_ONE };
  const many = { connections: AT_ONCE, pieces: 20, streams: 3 };
  const seen = { direct: [], service: [], commit: [], commitP99: [], addedP50: [], addedP99: [], p99: [] } as Record<
    string,
    number[]
  >;
  for (let round = -1; round < ROUNDS; round += 1) {
    const [direct, through] = [await streams(WHERE.vendor, alone), await streams(WHERE.service, alone)];
    const commit = await load({ url: service.url, connections: 1, seconds: 1, flow: publish(service.url, other) });
    const [manyDirect, manyThrough] = [await streams(WHERE.vendor, many), await streams(WHERE.service, many)];
    if (round < 0) continue;
    seen.direct?.push(at(direct, 0.5));
    seen.service?.push(at(through, 0.5));
    seen.commit?.push(commit.p50Ms);
    seen.commitP99?.push(commit.p99Ms);
    seen.addedP50?.push(at(manyThrough, 0.5) - at(manyDirect, 0.5));
    seen.addedP99?.push(at(manyThrough, 0.99) - at(manyDirect, 0.99));
    seen.p99?.push(at(manyThrough, 0.99));
  }
  const of = (name: string) => median(seen[name] as number[]);
  const beyond = of('service') - of('direct') - of('commit');
  print(`To the first content of a stream (${ROUNDS} rounds)`, [
    {
      what: 'one after the other, p50: the vendor itself, through the service',
      value: shown(of('direct'), of('service')),
    },
    { what: 'a publish with one client, one commit: p50, p99', value: shown(of('commit'), of('commitP99')) },
    { what: 'added beyond one commit, p50', value: shown(beyond), target: '≤ 1 ms', met: beyond <= 1 },
    { what: `added, ${AT_ONCE} streams at once: p50`, value: shown(of('addedP50')) },
    {
      what: `added, ${AT_ONCE} streams at once: p99`,
      value: shown(of('addedP99')),
      target: '≤ 10 ms',
      met: of('addedP99') <= 10,
    },
  ]);
}

/** The same stream on the wire of Anthropic's clients, beside chat/completions. */
async function messages(): Promise<void> {
  const alone = { connections: 1, pieces: 3, streams: ONE_BY_ONE };
  const [chat, message]: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round += 1) {
    const [ofChat, ofMessages] = [await streams(WHERE.service, alone), await streams(WHERE.messages, alone)];
    if (round < 0) continue;
    chat.push(at(ofChat, 0.5));
    message.push(at(ofMessages, 0.5));
  }
  const added = median(message) - median(chat);
  print(`To the first content of a stream of /v1/messages (${ROUNDS} rounds)`, [
    { what: 'one after the other, p50: chat/completions, messages', value: shown(median(chat), median(message)) },
    { what: 'added, p50', value: shown(added), target: '≤ 1 ms', met: added <= 1 },
  ]);
}

/** Of a core, while so many streams are open. */
async function shareOf(where: Where, pid: number, connections: number): Promise<number> {
  const begunMs = connections * 10;
  const running = streams(where, { connections, pieces: (begunMs + 7_000) / EVERY_MS, streams: 1 });
  await sleep(begunMs + 1_500);
  const before = fineSeconds([pid]);
  await sleep(4_500);
  const share = (fineSeconds([pid]) - before) / 4.5;
  await running;
  return share;
}

/** Of the service, and of the relay that does the least, at half as many streams: neither has all it can do. */
async function relayed(): Promise<void> {
  const shares: number[][] = [[], []];
  for (let round = 0; round < RELAYED_ROUNDS; round += 1) {
    for (const [i, [where, pid]] of (
      [
        [WHERE.service, service.pid],
        [WHERE.relay, relay.pid as number],
      ] as const
    ).entries()) {
      shares[i]?.push(await shareOf(where, pid, OPEN / 2));
    }
  }
  const [ours, least] = shares.map(median) as [number, number];
  const micros = (share: number) => `${((1e6 * share) / (OPEN / 2) / (1_000 / EVERY_MS)).toFixed(0)} µs`;
  print(`${OPEN / 2} open streams: processor time of a piece`, [
    { what: 'the service; a relay that parses and writes each piece', value: `${micros(ours)}, ${micros(least)}` },
    { what: 'the service / that relay', value: (ours / least).toFixed(2) },
  ]);
}

async function open(): Promise<void> {
  const victim = startVictim();
  const order = { url: service.url, secret: other.secret, perSecond: OTHERS_PER_SECOND };
  await victim.take({ ...order, seconds: 3 });
  const alone = await victim.take({ ...order, seconds: 10 });
  const postmaster = await postmasterPid(service.connection);
  const pieces = (OPEN_SECONDS * 1_000) / EVERY_MS;
  const running = streams(WHERE.service, { connections: OPEN, pieces, streams: 1 });
  await sleep(15_000);
  const [watchedSeconds, memory] = [OPEN_SECONDS - 20, [] as number[]];
  const watched = victim.take({ ...order, seconds: watchedSeconds });
  const processes = treeOf(postmaster);
  const [before, databaseBefore] = [fineSeconds([service.pid]), fineSeconds(processes)];
  for (let second = 0; second < watchedSeconds; second += 1) {
    memory.push(service.memoryMb());
    await sleep(1_000);
  }
  const share = (fineSeconds([service.pid]) - before) / watchedSeconds;
  const database = (fineSeconds(processes) - databaseBefore) / watchedSeconds;
  const beside = await watched;
  const { pieces: told } = await running;
  victim.end();
  const least = await shareOf(WHERE.relay, relay.pid as number, OPEN);
  const grown = slope(memory, 1);
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  const rows: Row[] = [
    {
      what: `share of a core, with ${OTHERS_PER_SECOND} calls of the queue a second beside it: Node`,
      value: percent(share),
      target: '≤ 70 %',
      met: share <= 0.7,
    },
    { what: 'the same, PostgreSQL', value: percent(database) },
    { what: 'a relay that parses and writes each piece, and does nothing else', value: percent(least) },
    {
      what: `memory over ${watchedSeconds} s: first, last, slope`,
      value: `${memory[0]?.toFixed(0)}, ${memory.at(-1)?.toFixed(0)} MB, ${grown.toFixed(1)} MB a minute`,
      target: 'flat',
      met: (memory.at(-1) as number) <= (memory[0] as number) * 1.1,
    },
    {
      what: 'calls of the queue: p50 alone, beside; p99 alone, beside',
      value: `${shown(alone.p50Ms, beside.p50Ms)}; ${shown(alone.p99Ms, beside.p99Ms)}; ${(beside.p99Ms / alone.p99Ms).toFixed(1)} x`,
      target: '≤ 3 x',
      met: beside.p99Ms <= 3 * alone.p99Ms,
    },
  ];
  print(`${OPEN} open streams, ${1_000 / EVERY_MS} pieces a second each (${told} pieces in all)`, rows);
}

const parts: Readonly<Record<string, () => Promise<void>>> = { first, messages, relayed, open };
for (const name of PARTS) {
  const part = parts[name];
  if (part === undefined) throw new Error(`there is no part ${name}; there are ${Object.keys(parts).join(', ')}`);
  await part();
}
clients.end();
await stop();
relay.disconnect();
