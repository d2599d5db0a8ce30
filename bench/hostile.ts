// What does an attack, or far too much load, do to everybody else? A victim goes on at a steady pace while each scenario runs beside it,
// and is compared with itself undisturbed, right before. Rate limits are on. `BENCH_ONLY=bombs,unread` runs some;
// BENCH_LATER_SECONDS shortens the minute after which memory is looked at again, WORKERS=4 loads several processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/support/process.ts';
import { attack, inWords, startVictim } from './hostile/children.ts';
import { healthShare, lockWallets, peakMemory, settled } from './hostile/measure.ts';
import { overload, overloadNames } from './hostile/overload.ts';
import type { Scenario } from './hostile/scenario.ts';
import { prepare, scenarios } from './hostile/scenarios.ts';
import type { VictimReport } from './hostile/victim.ts';
import { spendNothing } from './hostile/video.ts';
import { print, type Row } from './support/report.ts';
import { type BenchAccount, type LongestTurn, startBenchService } from './support/service.ts';

const PER_SECOND = Number(process.env.BENCH_VICTIM_RATE ?? 500);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 8);
const LATER_SECONDS = Number(process.env.BENCH_LATER_SECONDS ?? 60);
const UNDISTURBED_SECONDS = 3;
const WARM_UP_SECONDS = 5;
const ATTACK_FIRST_MS = 300;
const LOCKED_SECONDS = 6;
const SETTLE_SECONDS_MAX = 30;

const SUCCESS_MIN = 0.99;
const SLOWER_MAX = 5;
const P99_MS_MAX = 50;
const LOCKED_MS_MAX = 200;
const GROWTH_MB_MAX = 300;
const KEPT_MB_MAX = 150;

const TURN_MS_MAX = 20;

const smtpPort = await freePort();
const service = await startBenchService(20, 'on', undefined, { SMTP_PORT: String(smtpPort) });
const { url, accounts } = service;
const [victimAccount, attacker] = accounts as [BenchAccount, BenchAccount];
for (const { secret } of accounts) await service.call(secret, '/v1/queue/create', { name: 'bench' });
const { dsnSecret } = await prepare(service, attacker);
await spendNothing(service, accounts[17] as BenchAccount);
const victim = startVictim();
const run = (seconds: number) => victim.take({ url, secret: victimAccount.secret, perSecond: PER_SECOND, seconds });

const wanted = process.env.BENCH_ONLY?.split(',');
const all = await scenarios(service, { dsnSecret, smtpPort });
const known = [...all.map(({ name }) => name), ...overloadNames];
const unknown = wanted?.find((name) => !known.includes(name));
if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}; there are ${known.join(', ')}`);
const isWanted = (name: string) => wanted?.includes(name) ?? true;

await run(WARM_UP_SECONDS);
const beforeMb = service.memoryMb();
const rows: Row[] = [];
for (const scenario of all.filter(({ name }) => isWanted(name))) rows.push(await disturbed(scenario));
for (const name of overloadNames.filter(isWanted))
  rows.push(...(await overload(service, name, accounts.slice(9, 17), GROWTH_MB_MAX)));
await sleep(LATER_SECONDS * 1000);
const afterMb = service.memoryMb();
rows.push({
  what: `resident ${LATER_SECONDS} s after the last one`,
  value: `${beforeMb.toFixed(0)} MB before, ${afterMb.toFixed(0)} MB then`,
  target: `≤ + ${KEPT_MB_MAX} MB`,
  met: afterMb - beforeMb <= KEPT_MB_MAX,
});
print(`Hostile: a victim at ${PER_SECOND} calls/s beside attacks of ${SECONDS} s`, rows);
victim.end();
await service.stop();

async function disturbed(scenario: Scenario): Promise<Row> {
  const seconds = scenario.locked === undefined ? SECONDS : LOCKED_SECONDS;
  await settled(service, SETTLE_SECONDS_MAX);
  await service.longestTurn();
  const alone = await run(UNDISTURBED_SECONDS);
  const turnAlone = await service.longestTurn();
  const startMb = service.memoryMb();
  const orders = scenario.orders.map((order) => ({
    ...order,
    url: scenario.url ?? url,
    seconds: seconds + ATTACK_FIRST_MS / 1000,
  }));
  const beside = Promise.all([
    attack(orders),
    sleep(ATTACK_FIRST_MS).then(() => run(seconds)),
    scenario.probesHealth === true ? healthShare(url, seconds) : null,
    scenario.locked === undefined ? null : lockWallets(service, scenario.locked, seconds),
    sleep(ATTACK_FIRST_MS).then(() => scenario.beside?.run()),
  ]);
  const [[[attacked, suffered, health, , succeeded], settleSeconds], peakMb] = await peakMemory(
    service,
    beside.then(async (seen) => [seen, await settled(service, SETTLE_SECONDS_MAX)] as const),
  );
  const marks = marksOf(scenario, alone, suffered, peakMb - startMb, health);
  marks.push(turnMark(turnAlone, await service.longestTurn()));
  if (scenario.beside !== undefined) marks.push(besideMark(scenario.beside.name, succeeded === true));
  const row: Row = {
    what: scenario.what,
    value: `${marks.map(({ value, met }) => (met ? value : `**${value}**`)).join('; ')}; resident ${startMb.toFixed(0)} MB before; quiet after ${settleSeconds.toFixed(1)} s; ${inWords(attacked)}`,
    target: marks.map(({ target }) => target).join(', '),
    met: marks.every(({ met }) => met),
  };
  process.stdout.write(`${scenario.name}: ${row.met ? 'met' : 'MISSED'}: ${row.value}\n`);
  return row;
}

function turnMark(alone: LongestTurn, longest: LongestTurn): Mark {
  const [before, value] = [alone, longest].map(
    ({ ms, kernelMs, collectingMs }) =>
      `${ms.toFixed(0)} (${kernelMs.toFixed(0)} of the kernel, ${collectingMs.toFixed(0)} of garbage)`,
  );
  return {
    value: `longest turn ${before} → ${value} ms of processor time`,
    target: `no turn over ${TURN_MS_MAX} ms`,
    met: longest.ms <= TURN_MS_MAX,
  };
}

interface Mark {
  readonly value: string;
  readonly target: string;
  readonly met: boolean;
}

function besideMark(name: string, met: boolean): Mark {
  return { value: `${name}: ${met ? 'yes' : 'no'}`, target: name, met };
}

function marksOf(
  { locked }: Scenario,
  alone: VictimReport,
  suffered: VictimReport,
  grownMb: number,
  health: number | null,
): Mark[] {
  const success = suffered.succeeded / suffered.sent;
  const failures = Object.entries(suffered.failures).map(([status, count]) => `${count} x ${status}`);
  const limitMs = Math.max(SLOWER_MAX * alone.p99Ms, P99_MS_MAX);
  const marks: Mark[] = [
    {
      value: `${(success * 100).toFixed(1)} % answered${failures.length > 0 ? ` (${failures.join(', ')})` : ''}`,
      target: `≥ ${SUCCESS_MIN * 100} %`,
      met: success >= SUCCESS_MIN,
    },
    locked === undefined
      ? {
          value: `p99 ${alone.p99Ms.toFixed(1)} → ${suffered.p99Ms.toFixed(1)} ms`,
          target: `p99 ≤ ${limitMs.toFixed(0)} ms`,
          met: suffered.p99Ms <= limitMs,
        }
      : {
          value: `longest ${alone.longestMs.toFixed(0)} → ${suffered.longestMs.toFixed(0)} ms`,
          target: `≤ ${LOCKED_MS_MAX} ms`,
          met: suffered.longestMs <= LOCKED_MS_MAX,
        },
    { value: `+ ${grownMb.toFixed(0)} MB`, target: `≤ + ${GROWTH_MB_MAX} MB`, met: grownMb <= GROWTH_MB_MAX },
  ];
  if (health !== null)
    marks.push({
      value: `${(health * 100).toFixed(0)} % of /healthz on new connections`,
      target: `≥ ${SUCCESS_MIN * 100} %`,
      met: health >= SUCCESS_MIN,
    });
  return marks;
}
