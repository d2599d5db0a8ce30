// Mail to a relay on loopback by one process, durable and billed: calls that wait for the relay, mail in the background, and what a relay that
// says nothing does to mail for another.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Flow, type LoadResult, load, post } from './support/load.ts';
import { processorSeconds } from './support/processor.ts';
import { median, print, type Row, ratioRow } from './support/report.ts';
import { type BenchAccount, startBenchService } from './support/service.ts';

const CONNECTIONS = 32;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const BACKGROUND_MAILS = 2_000;
const BATCH = 100;
const PER_MINUTE = 6_000;

async function startRelay(mode: 'take' | 'stall'): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(new URL('./support/relay.ts', import.meta.url), [mode], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [port] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  return { child, port: Number(String(port)) };
}

async function takenBy({ child }: { child: ChildProcess }): Promise<number> {
  const answer = once(child, 'message');
  child.send('taken?');
  return Number((await answer)[0]);
}

const relay = await startRelay('take');
const dead = await startRelay('stall');
const file = join(mkdtempSync(join(tmpdir(), 'qm-bench-mail-')), 'vendors.yaml');
const vendor = (id: string, port: number) =>
  `  - { id: ${id}, adapter: smtp, url: 'smtp://127.0.0.1:${port}', priority: ${port === dead.port ? 200 : 100} }\n`;
writeFileSync(file, `version: 1\nvendors:\n${vendor('relay', relay.port)}${vendor('dead', dead.port)}`);
const service = await startBenchService(2, 'off', 1, {
  VENDORS_FILE: file,
  EMAIL_TRUSTED_DOMAINS: 'sender.example.org',
});
const [account, other] = service.accounts as [BenchAccount, BenchAccount];

const mail = {
  from: 'Agent <agent@sender.example.org>',
  subject: 'A report of today',
  text: 'Some words of a mail. '.repeat(40),
  html: `<p>${'Some words of a mail. '.repeat(40)}</p>`,
};
const flowOf = (fields: object, { secret } = account): Flow => {
  let sent = 0;
  return {
    next() {
      sent += 1;
      return post(
        service.url,
        '/v1/email/send',
        secret,
        JSON.stringify({ ...mail, to: `a${sent % 1_000}@example.net`, ...fields }),
      );
    },
  };
};

interface Measured extends LoadResult {
  readonly nodeUs: number;
}

async function measure(flow: Flow, connections: number, seconds = SECONDS): Promise<Measured> {
  const before = processorSeconds(service.pid);
  const result = await load({ url: service.url, connections, seconds, flow });
  if (result.failed > 0) throw new Error(`${result.failed} calls failed`);
  return { ...result, nodeUs: ((processorSeconds(service.pid) - before) / result.calls) * 1e6 };
}

/** Mails a minute from the first acceptance of a backlog to its last hand-over. */
async function background(): Promise<number> {
  const before = await takenBy(relay);
  const startedMs = performance.now();
  for (let sent = 0; sent < BACKGROUND_MAILS; sent += BATCH) {
    const items = Array.from({ length: BATCH }, (_, n) => ({ ...mail, html: undefined, to: `b${n}@example.net` }));
    await service.call(account.secret, '/v1/email/batch/send', { items, wait: false });
  }
  while ((await takenBy(relay)) < before + BACKGROUND_MAILS) await sleep(50);
  return (BACKGROUND_MAILS / (performance.now() - startedMs)) * 60_000;
}

await measure(flowOf({}), CONNECTIONS, 3);
const waiting: Measured[] = [];
const beside: Measured[] = [];
const inBackground: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  waiting.push(await measure(flowOf({}), CONNECTIONS));
  inBackground.push(await background());
}
// The other account keeps ordering mail of the relay that says nothing: a thousand a minute.
let goesOn = true;
const stalled = (async () => {
  while (goesOn) {
    await service.call(other.secret, '/v1/email/batch/send', {
      items: Array.from({ length: BATCH / 10 }, () => ({
        ...mail,
        html: undefined,
        to: 'c@example.net',
        vendor: 'dead',
      })),
      wait: false,
    });
    await sleep(600);
  }
})();
await sleep(2_000);
for (let round = 0; round < ROUNDS; round += 1) beside.push(await measure(flowOf({}), CONNECTIONS));
goesOn = false;
await stalled;

const perMinute = (runs: readonly Measured[]) => runs.map(({ rate }) => rate * 60);
const minuteRow = (what: string, rates: readonly number[], target?: number): Row => ({
  what,
  value: `${Math.round(median(rates)).toLocaleString('en')} a minute`,
  ...(target === undefined ? {} : { target: `≥ ${target.toLocaleString('en')}`, met: median(rates) >= target }),
});
print(`Mail to a relay on loopback, ${CONNECTIONS} connections (${ROUNDS} rounds of ${SECONDS} s)`, [
  minuteRow('calls that wait for the relay', perMinute(waiting), PER_MINUTE),
  minuteRow('in the background, in batches of 100', inBackground, PER_MINUTE),
  {
    what: 'a call that waits',
    value: `p50 ${median(waiting.map(({ p50Ms }) => p50Ms)).toFixed(0)} ms, p99 ${median(waiting.map(({ p99Ms }) => p99Ms)).toFixed(0)} ms; ${median(waiting.map(({ nodeUs }) => nodeUs)).toFixed(0)} µs Node a mail`,
  },
  ratioRow(
    'beside a relay that says nothing / alone',
    perMinute(beside).map((rate, i) => rate / (perMinute(waiting)[i] as number)),
    0.8,
  ),
]);
await service.stop();
relay.child.kill();
dead.child.kill();
