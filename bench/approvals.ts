// What do approval rules cost the calls that none of them meets? Publishes of an account without rules, of one whose rule is about something else,
// and the look itself.
import { performance } from 'node:perf_hooks';
import { type Rule, RuleSet, type RuleSets } from '../src/approvals/rules.ts';
import { underRules } from '../src/gateway/approvals.ts';
import type { Call } from '../src/gateway/call.ts';
import { publish, QUEUE } from './support/flows.ts';
import { load } from './support/load.ts';
import { processorSeconds, treeSeconds } from './support/processor.ts';
import { median, print, ratioRow } from './support/report.ts';
import { postmasterPid, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const LOOKS = 300_000;

const service = await startBenchService(2);
const { url, accounts } = service;
const [without, ruled] = accounts;
if (without === undefined || ruled === undefined) throw new Error('no accounts');
for (const { secret } of accounts) await service.call(secret, '/v1/queue/create', { name: QUEUE });
const set = await fetch(`${url}/v1/account/approvals/rule/videos`, {
  method: 'PUT',
  headers: { authorization: `Bearer ${ruled.secret}`, 'content-type': 'application/json' },
  body: JSON.stringify({ capabilities: ['video'], when: { cost_usd_above: 1 } }),
});
if (!set.ok) throw new Error(await set.text());
const postmaster = await postmasterPid(service.connection);

interface Measured {
  readonly rate: number;
  /** Processor time of a call, µs. */
  readonly us: number;
}

async function measure(account: typeof without & object): Promise<Measured> {
  const before = processorSeconds(service.pid) + treeSeconds(postmaster);
  const result = await load({ url, connections: CONNECTIONS, seconds: SECONDS, flow: publish(url, account) });
  if (result.failed > 0) throw new Error(`${result.failed} calls failed`);
  const us = ((processorSeconds(service.pid) + treeSeconds(postmaster) - before) / result.calls) * 1e6;
  return { rate: result.rate, us };
}

for (const account of [without, ruled]) await measure(account);
const rounds: [Measured, Measured][] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  // By turns, so that neither always comes first.
  if (round % 2 === 0) rounds.push([await measure(without), await measure(ruled)]);
  else {
    const second = await measure(ruled);
    rounds.push([await measure(without), second]);
  }
}
await service.stop();

/** Nanoseconds that a look takes beside the work itself. */
async function lookNs(rulesVersion: bigint, rules: readonly Rule[]): Promise<number> {
  const sets = { of: () => new RuleSet(rules) } as unknown as RuleSets;
  const known = sets.of(null as never, '', 1n);
  const ruleSets = { of: () => known } as unknown as RuleSets;
  const capability = { id: 'queue.publish', price: 'queue.publish' };
  const call = { principal: { rulesVersion, id: 'key_1' }, idempotency: null, endpoint: { capability }, core: {} };
  const asked = { canonical: () => '', shownInput: () => null, facts: () => ({}), isRepeatable: true };
  const work = async () => 1;
  const time = async (one: () => Promise<number>) => {
    const start = performance.now();
    for (let look = 0; look < LOOKS; look += 1) await one();
    return ((performance.now() - start) / LOOKS) * 1e6;
  };
  const looked = () => underRules({ ruleSets }, call as unknown as Call, asked, work);
  await time(looked);
  return (await time(looked)) - (await time(work));
}

const other: Rule = {
  name: 'videos',
  capabilities: ['video'],
  keys: null,
  costAboveNanos: 1n,
  input: null,
  firstUse: false,
  approvers: null,
  expiresMs: 60_000,
  reasonRequired: false,
};
const looks = [await lookNs(0n, []), await lookNs(1n, [other])];
print(`Publishes at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s)`, [
  ratioRow(
    'rate with a rule of another capability / without rules',
    rounds.map(([a, b]) => b.rate / a.rate),
    0.98,
  ),
  {
    what: 'processor time of a publish: without rules, with a rule of another capability',
    value: `${median(rounds.map(([a]) => a.us)).toFixed(1)} and ${median(rounds.map(([, b]) => b.us)).toFixed(1)} µs`,
  },
  ...(['without rules', 'with a rule of another capability'] as const).map((what, i) => ({
    what: `the look, ${what}`,
    value: `${(looks[i] ?? 0).toFixed(0)} ns`,
    target: '≤ 1,000 ns',
    met: (looks[i] ?? 0) <= 1_000,
  })),
]);
