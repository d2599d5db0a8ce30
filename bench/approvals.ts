// What do approval rules cost the calls that none of them meets? Publishes of an account without rules, of one whose rule is about something else,
// and the look itself.
import { performance } from 'node:perf_hooks';
import { type Rule, RuleSet, type RuleSets } from '../src/approvals/rules.ts';
import { underRules } from '../src/gateway/approvals.ts';
import type { Call } from '../src/gateway/call.ts';
import { publish, QUEUE } from './support/flows.ts';
import { load } from './support/load.ts';
import { processorSeconds } from './support/processor.ts';
import { boundedRow, median, medianOfRatios, print } from './support/report.ts';
import { startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 300);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 0.4);
const LOOKS = 300_000;
/** Of each kind, taken in turn: an account may be slow for its place, its queue or its rows. */
const ACCOUNTS = 6;

const service = await startBenchService(3 * ACCOUNTS);
const { url, accounts } = service;
const ofKind = (kind: number) => accounts.filter((_, i) => i % 3 === kind);
const kinds = { without: ofKind(0), alike: ofKind(1), ruled: ofKind(2) };
for (const { secret } of accounts) await service.call(secret, '/v1/queue/create', { name: QUEUE });
for (const { secret } of kinds.ruled) {
  const set = await fetch(`${url}/v1/account/approvals/rule/videos`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ capabilities: ['video'], when: { cost_usd_above: 1 } }),
  });
  if (!set.ok) throw new Error(await set.text());
}

type Kind = keyof typeof kinds;
const KINDS: readonly Kind[] = ['without', 'alike', 'ruled'];
const rates: Record<Kind, number[]> = { without: [], alike: [], ruled: [] };
/** Processor time of the service for a call, µs: PostgreSQL does the same for each kind. */
const costs: Record<Kind, number[]> = { without: [], alike: [], ruled: [] };

async function turn(kind: Kind, round: number): Promise<void> {
  const account = kinds[kind][round % ACCOUNTS] as (typeof accounts)[number];
  const before = processorSeconds(service.pid);
  const result = await load({ url, connections: CONNECTIONS, seconds: SECONDS, flow: publish(url, account) });
  if (result.failed > 0) throw new Error(`${result.failed} calls failed`);
  rates[kind].push(result.rate);
  costs[kind].push(((processorSeconds(service.pid) - before) / result.calls) * 1e6);
}

const WARMING = 2 * ACCOUNTS;
for (let round = 0; round < WARMING + ROUNDS; round += 1) {
  // Each kind comes first, second and last as often, and forwards as often as backwards.
  const order = KINDS.map((_, i) => KINDS[(i + round) % 3] as Kind);
  for (const kind of round % 2 === 0 ? order : order.toReversed()) await turn(kind, round);
}
for (const kind of KINDS) {
  rates[kind].splice(0, WARMING);
  costs[kind].splice(0, WARMING);
}
await service.stop();

const pairs = (of: typeof rates, a: Kind, b: Kind) => of[a].map((value, i) => [value, of[b][i] as number] as const);

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
print(`Publishes at ${CONNECTIONS} connections (${ROUNDS} rounds of ${SECONDS} s, ${ACCOUNTS} accounts of each kind)`, [
  boundedRow('rate: rule of another capability / no rules', medianOfRatios(pairs(rates, 'ruled', 'without')), 0.98),
  boundedRow(
    'rate: no rules / no rules (what this bench can tell)',
    medianOfRatios(pairs(rates, 'alike', 'without')),
    0.98,
  ),
  boundedRow(
    'calls for the same processor time of the service: with the rule / without',
    medianOfRatios(pairs(costs, 'without', 'ruled')),
    0.98,
  ),
  boundedRow('the same, no rules / no rules', medianOfRatios(pairs(costs, 'without', 'alike')), 0.98),
  { what: 'processor time of a publish without rules', value: `${median(costs.without).toFixed(1)} µs` },
  ...(['without rules', 'with a rule of another capability'] as const).map((what, i) => ({
    what: `the look, ${what}`,
    value: `${(looks[i] ?? 0).toFixed(0)} ns`,
    target: '≤ 1,000 ns',
    met: (looks[i] ?? 0) <= 1_000,
  })),
]);
