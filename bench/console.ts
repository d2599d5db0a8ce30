// The console: what a page takes beyond the calls that it makes, and what 200 open pages of ten accounts cost the publishes of one of them.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { publish, QUEUE } from './support/flows.ts';
import { Line, loadOn, openLines } from './support/load.ts';
import { fineSeconds, treeOf } from './support/processor.ts';
import { boundedRow, median, print, type Row, ratioOfMedians } from './support/report.ts';
import { type BenchAccount, postmasterPid, startBenchService } from './support/service.ts';

const PAGES = ['', '/keys', '/queues', `/queues/${QUEUE}`, '/errors', '/webhooks', '/wallet', '/usage', '/events'];
const VISITS = 60;
const STREAMS = 200;
const STREAMS_OF_SESSION = 5;
const STREAMS_OF_ACCOUNT = 20;
const CONNECTIONS = 64;
const PAIRS = Number(process.env.BENCH_PAIRS ?? 40);
/** Ticks come every two seconds at most. */
const SECONDS = 2;

const service = await startBenchService(STREAMS / STREAMS_OF_ACCOUNT);
const [account] = service.accounts as [BenchAccount, ...BenchAccount[]];
const idleMb = service.memoryMb();
await service.call(account.secret, '/v1/queue/create', { name: QUEUE });
for (let n = 0; n < 50; n += 1)
  await service.call(account.secret, '/v1/queue/publish', { queue: QUEUE, payload: { n } });
const { host } = new URL(service.url);

/** The cookie of a new session. */
async function signIn(secret: string): Promise<string> {
  const answer = await fetch(`${service.url}/auth/key`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ key: secret, return_to: '/console' }),
    headers: { origin: service.url },
  });
  const [cookie = ''] = answer.headers.getSetCookie();
  return cookie.split(';', 1)[0] as string;
}

function request(path: string, header: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${header}\r\n\r\n`);
}

function send(line: Line, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const answered = (status: number, body: Buffer) =>
      status === 200 ? resolve(body.toString()) : reject(new Error(`answered with ${status}: ${body}`));
    line.send(bytes, answered, reject);
  });
}

/** The calls at the foot of a page, all of which read. */
function callsOf(page: string): Buffer[] {
  return [...page.matchAll(/curl -sS &#39;https?:\/\/[^/]+(\/v1\/[^\s]*?)&#39;/g)].map(([, path = '']) =>
    request(path.replaceAll('&amp;', '&'), `Authorization: Bearer ${account.secret}`),
  );
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}

async function visits(): Promise<Row[]> {
  const cookie = await signIn(account.secret);
  const line = await Line.open(service.url);
  const rows: Row[] = [];
  for (const page of PAGES) {
    const bytes = request(`/console${page}`, `Cookie: ${cookie}`);
    const calls = callsOf(await send(line, bytes));
    const lines = await openLines(service.url, calls.length);
    const [pageMs, callsMs]: [number[], number[]] = [[], []];
    for (let n = 0; n < VISITS; n += 1) {
      pageMs.push(await timed(() => send(line, bytes)));
      callsMs.push(await timed(() => Promise.all(calls.map((call, i) => send(lines[i] as Line, call)))));
    }
    for (const each of lines) each.end();
    const [whole, reads] = [median(pageMs), median(callsMs)];
    rows.push({
      what: `/console${page}, ${calls.length} calls: the page, its calls side by side over HTTP; beyond them, p50`,
      value: `${whole.toFixed(1)}, ${reads.toFixed(1)} ms; ${(whole - reads).toFixed(1)} ms`,
      target: '≤ 5 ms',
      met: whole - reads <= 5,
    });
  }
  line.end();
  return rows;
}

/** Pages that are open: each a socket that is told when something has moved. */
async function openPages(cookies: readonly string[]): Promise<{ close(): void; ticks(): number }> {
  const sockets: Socket[] = [];
  let ticks = 0;
  await Promise.all(
    Array.from({ length: STREAMS }, (_, i) => {
      const socket = connect(Number(new URL(service.url).port), new URL(service.url).hostname);
      sockets.push(socket);
      socket.write(request('/console/live?since=', `Cookie: ${cookies[Math.floor(i / STREAMS_OF_SESSION)]}`));
      return new Promise<void>((resolve, reject) => {
        socket.on('error', reject);
        socket.once('data', (head: Buffer) => {
          if (head.toString('latin1').startsWith('HTTP/1.1 200')) resolve();
          else reject(new Error(`a stream was refused: ${head.toString('latin1').slice(0, 200)}`));
        });
        socket.on('data', (data: Buffer) => {
          if (data.includes('moved')) ticks += 1;
        });
      });
    }),
  );
  return {
    ticks: () => ticks,
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function besidePublishes(): Promise<Row[]> {
  const cookies: string[] = [];
  for (let n = 0; n < STREAMS; n += STREAMS_OF_SESSION)
    cookies.push(await signIn((service.accounts[Math.floor(n / STREAMS_OF_ACCOUNT)] as BenchAccount).secret));
  const processes = [service.pid, ...treeOf(await postmasterPid(service.connection))];
  const lines = await openLines(service.url, CONNECTIONS);
  const flow = publish(service.url, account);
  const turn = async (seconds = SECONDS) => {
    const before = fineSeconds(processes);
    const { rate, calls, failed } = await loadOn(lines, { seconds, flow });
    if (failed > 0) throw new Error(`${failed} publishes failed`);
    return { rate, perSecondOfProcessor: calls / (fineSeconds(processes) - before) };
  };
  await turn(5);
  const rates: [number, number][] = [];
  const costs: [number, number][] = [];
  let ticks = 0;
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const open = async () => {
      const pages = await openPages(cookies);
      const seen = await turn();
      ticks += pages.ticks();
      pages.close();
      await sleep(100);
      return seen;
    };
    const isFirst = pair % 2 === 0;
    const early = isFirst ? await open() : await turn();
    const late = isFirst ? await turn() : await open();
    const [beside, alone] = isFirst ? [early, late] : [late, early];
    rates.push([beside.rate, alone.rate]);
    costs.push([beside.perSecondOfProcessor, alone.perSecondOfProcessor]);
  }
  for (const line of lines) line.end();
  if (ticks < PAIRS * STREAMS_OF_ACCOUNT) throw new Error(`only ${ticks} ticks came: the pages were not followed`);
  return [
    boundedRow(`publishes a second beside ${STREAMS} open pages / without`, ratioOfMedians(rates), 0.98),
    boundedRow('publishes a second of processor time, beside / without', ratioOfMedians(costs), 0.98),
  ];
}

const pages = await visits();
const openedMb = service.memoryMb();
const streams = await besidePublishes();
print(`The console (${VISITS} visits a page, one after the other)`, [
  ...pages,
  {
    what: 'memory of the service: idle, after all of them were visited',
    value: `${idleMb.toFixed(0)}, ${openedMb.toFixed(0)} MB`,
  },
]);
print(
  `Open pages (${PAIRS} pairs of turns of ${SECONDS} s at ${CONNECTIONS} connections; 95 of 100 in brackets)`,
  streams,
);
await service.stop();
