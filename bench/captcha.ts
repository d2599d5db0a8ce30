// What does a verification cost? The judgement of a payload alone, in this process; and the whole call by HTTP with its event, its counts and its
// charge, against queue.publish of the same server. The payload has counted already: a row less than one that counts.
import { createChallenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { Secrets } from '../src/core/secrets/secrets.ts';
import { signingSecrets } from '../src/modules/captcha/capabilities/challenge.ts';
import { judge } from '../src/modules/captcha/capabilities/verify.ts';
import { publish, QUEUE } from './support/flows.ts';
import { type Flow, load, post } from './support/load.ts';
import { processorSeconds, treeSeconds } from './support/processor.ts';
import { median, perSecond, print, ratioRow } from './support/report.ts';
import { type BenchAccount, postmasterPid, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const JUDGEMENTS = 2_000;

/** Microseconds of the processor. */
async function judgementUs(): Promise<number> {
  const secrets = new Secrets('a secret of the bench, long enough to be one');
  const ctx = { core: { secrets }, accountId: 'acct_1' } as Parameters<typeof judge>[0];
  const challenge = await createChallenge({
    ...signingSecrets(ctx),
    algorithm: 'PBKDF2/SHA-256',
    deriveKey,
    cost: 1,
    counter: 1,
    expiresAt: Math.floor(Date.now() / 1_000) + 600,
    data: { id: 'cap_1', created: 0, difficulty: 'normal' },
  });
  const payload = btoa(JSON.stringify({ challenge, solution: await solveChallenge({ challenge, deriveKey }) }));
  if (judge(ctx, payload, {}).reason !== 'ok') throw new Error('the payload is not right');
  const before = process.cpuUsage();
  for (let i = 0; i < JUDGEMENTS; i += 1) judge(ctx, payload, {});
  const { user, system } = process.cpuUsage(before);
  return (user + system) / JUDGEMENTS;
}

await judgementUs();
const judged = await judgementUs();
const service = await startBenchService(1);
const { url } = service;
const [account] = service.accounts as [BenchAccount];
const postmaster = await postmasterPid(service.connection);

// biome-ignore lint/suspicious/noExplicitAny: an envelope
async function call(method: string, path: string, body?: object): Promise<any> {
  const headers = { authorization: `Bearer ${account.secret}`, 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return answer.json();
}
await call('POST', '/v1/queue/create', { name: QUEUE });
const { challenge } = (await call('GET', '/v1/captcha/challenge?difficulty=easy&expires_seconds=3600')).data;
const solution = await solveChallenge({ challenge, deriveKey });
const payload = btoa(JSON.stringify({ challenge, solution }));
const request = post(url, '/v1/captcha/verify', account.secret, JSON.stringify({ payload }));
const flows: Readonly<Record<string, Flow>> = {
  'queue.publish': publish(url, account),
  'captcha.verify': { next: () => request },
};

async function measure(flow: Flow, seconds = SECONDS) {
  const before = [processorSeconds(service.pid), treeSeconds(postmaster)] as const;
  const result = await load({ url, connections: CONNECTIONS, seconds, flow });
  if (result.failed > 0) throw new Error(`${result.failed} calls failed`);
  const micros = (spent: number) => (spent / result.calls) * 1e6;
  const nodeUs = micros(processorSeconds(service.pid) - before[0]);
  return { ...result, nodeUs, postgresUs: micros(treeSeconds(postmaster) - before[1]) };
}

const found = new Map(Object.keys(flows).map((name) => [name, [] as Awaited<ReturnType<typeof measure>>[]]));
for (const flow of Object.values(flows)) await measure(flow, SECONDS);
for (let round = 0; round < ROUNDS; round += 1)
  for (const [name, flow] of Object.entries(flows)) found.get(name)?.push(await measure(flow));
const of = (name: string, figure: 'rate' | 'nodeUs' | 'postgresUs' | 'p99Ms') =>
  (found.get(name) ?? []).map((run) => run[figure]);
const row = (what: string) => {
  const cpu = `${median(of(what, 'nodeUs')).toFixed(0)} µs Node, ${median(of(what, 'postgresUs')).toFixed(0)} µs PostgreSQL a call`;
  return {
    what,
    value: `${perSecond(median(of(what, 'rate')))}; ${cpu}; p99 ${median(of(what, 'p99Ms')).toFixed(1)} ms`,
  };
};
const whole = median(of('captcha.verify', 'nodeUs'));
print(`Verifications at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s)`, [
  { what: 'judging a payload', value: `${judged.toFixed(0)} µs`, target: '≤ 1,000 µs', met: judged <= 1_000 },
  row('queue.publish'),
  { ...row('captcha.verify'), target: '≤ 1,000 µs Node', met: whole <= 1_000 },
  ratioRow(
    'captcha.verify / queue.publish',
    of('captcha.verify', 'rate').map((rate, round) => rate / (of('queue.publish', 'rate')[round] as number)),
  ),
]);
await service.stop();
