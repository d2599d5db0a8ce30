// The first page: how much money is left and how long it lasts, what fails, which keys spend. Each panel is one read, and fails alone.

import { contentOrFailure, panel } from '../../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../../kit/console/page.ts';
import { type Period, periodControl, periodOf, withPeriod } from '../../../../kit/console/period.ts';
import { plot } from '../../../../kit/console/plot.ts';
import { figures, meter, share, table, teach } from '../../../../kit/console/table.ts';
import {
  ago,
  count,
  countOf,
  durationText,
  money,
  roughMoney,
  shareText,
  short,
} from '../../../../kit/console/text.ts';
import type { DataOf, Read, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { DAY_MS, HOUR_MS, iso } from '../../../../lib/time.ts';
import { balance as accountBalance } from '../../capabilities/balance.ts';
import { budgetGet } from '../../capabilities/budget-get.ts';
import { get } from '../../capabilities/profile/get.ts';
import { requestsList } from '../../capabilities/requests/list.ts';
import { usage as accountUsage } from '../../capabilities/usage.ts';
import { usageTimeseries } from '../../capabilities/usage-timeseries.ts';
import { type Callers, callerName, readCallers } from '../usage/caller.ts';
import { failing } from './failing.ts';
import { firstSteps } from './first-steps.ts';

type Balance = DataOf<typeof accountBalance>;

type Budget = DataOf<typeof budgetGet>;

type Usage = DataOf<typeof accountUsage>;

type Series = DataOf<typeof usageTimeseries>;

const WEEK_DAYS = 7;
const ROWS = 8;
/** Beyond, nobody counts the days. */
const RUNWAY_DAYS_MAX = 1_000;

export const overviewPage: ConsolePage = {
  name: 'overview',
  path: '',
  needs: get,
  nav: { label: 'Overview', key: 'o', group: 'start' },
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const period = periodOf(visit);
  const { from, to, granularity } = period;
  const toMs = Math.ceil(visit.nowMs / HOUR_MS) * HOUR_MS;
  const week = { from: iso(toMs - WEEK_DAYS * DAY_MS), to: iso(toMs), console_calls: 'billed' };
  // What the console itself reads is no use of the account.
  const ofPeriod = visit.call(accountUsage, { from, to, console_calls: 'billed' });
  const [balance, budget, lastWeek, usage, series, callers, failures] = await Promise.all([
    visit.call(accountBalance),
    visit.call(budgetGet),
    visit.call(accountUsage, week),
    ofPeriod,
    visit.call(usageTimeseries, { from, to, granularity, group_by: 'capability', console_calls: 'billed' }),
    readCallers(visit),
    failing(visit, ofPeriod),
  ]);
  const content = html`<h1>Overview</h1>
${await firstSteps(visit, lastWeek, callers)}
${money_(visit, balance, budget, lastWeek)}
${failures}
<section class="panel"><h2>Spend</h2>${periodControl(visit, period)}
${contentOrFailure(visit, series, (data) => spendPlot(visit, data, period))}</section>
<div class="panels">
${panel(visit, 'By capability', usage, (data) => byCapability(visit, data))}
${panel(visit, 'By key', usage, (data) => byKey(visit, data, callers))}
</div>`;
  return { title: 'Overview', content, hasPlots: true };
}

/** What is left, and for how long at the rate of the last seven days. */
function money_(visit: Visit, balance: Read<Balance>, budget: Read<Budget>, lastWeek: Read<Usage>): Html {
  return html`<section class="panel" aria-label="Money">${contentOrFailure(visit, balance, (data) => {
    const perDay = (lastWeek.data?.spend_usd ?? 0) / WEEK_DAYS;
    return html`${figures([
      [
        'Balance',
        html`<span aria-live="polite">${money(data.balance_usd)}</span>`,
        data.held_usd > 0 ? html`plus ${money(data.held_usd)} held` : 'Nothing is held',
      ],
      [
        'Runway',
        runwayText(data.balance_usd, perDay),
        perDay > 0 ? html`at ${roughMoney(perDay)} a day` : 'No spend in 7 days',
      ],
      ['Spent in 7 days', money(lastWeek.data?.spend_usd ?? 0), `${count(lastWeek.data?.request_count ?? 0)} calls`],
      ['Failed in 7 days', failedLink(visit, lastWeek.data?.error_count ?? 0), shareOf(lastWeek.data)],
    ])}
${data.frozen_reason === null ? '' : html`<p class="failure" role="alert">The wallet is frozen: ${data.frozen_reason}. <a href="${visit.path('/wallet')}">Open the wallet</a></p>`}
${data.low_balance ? html`<p class="notice" role="status">The balance is low. <a href="${visit.path('/wallet')}">Top up</a></p>` : ''}`;
  })}${contentOrFailure(visit, budget, (data) => budgetBar(visit, data))}</section>`;
}

/** What failed can be looked at, call by call. */
function failedLink(visit: Visit, failed: number): Html | string {
  if (failed === 0 || !visit.may(requestsList)) return count(failed);
  return html`<a href="${visit.path('/requests')}">${count(failed)}</a>`;
}

function runwayText(balanceUsd: number, usdPerDay: number): string {
  if (balanceUsd <= 0) return 'empty';
  const days = usdPerDay > 0 ? balanceUsd / usdPerDay : Number.POSITIVE_INFINITY;
  return days > RUNWAY_DAYS_MAX ? 'over 2 years' : durationText(days * 86_400);
}

function shareOf(week: Usage | null): string {
  if (week === null || week.request_count === 0) return 'no calls';
  return `${shareText(week.error_count, week.request_count)} of all calls`;
}

function budgetBar(visit: Visit, { period, hard_cap_usd: cap, used_usd: used, window_end: end }: Budget): Html {
  if (cap === null) return html`<p class="quiet">No budget is set. The balance is the only limit.</p>`;
  const part = cap === 0 ? 1 : Math.min(1, used / cap);
  return html`<p class="small">Budget (${String(period)}): ${money(used)} of ${money(cap)}${end === null ? '' : html`, until ${String(end).slice(0, 10)}`}</p>
${meter(100 * part, part >= 1)}
${part < 1 ? '' : html`<p class="notice">The budget is used up. Paid calls are refused until it resets. <a href="${visit.path('/wallet')}">Raise the cap</a></p>`}`;
}

function spendPlot(visit: Visit, { items }: Series, { to }: Period): Html {
  const spent = new Set(items.flatMap(({ spend_usd, group }) => (spend_usd > 0 ? [group] : [])));
  if (spent.size === 0)
    return html`<div class="empty">${teach('Nothing was spent in this period. Send your first message:', firstCalls(visit))}</div>`;
  const instants = [...new Set(items.map(({ at }) => at))];
  const groups = [
    ...Map.groupBy(
      items.filter(({ group }) => spent.has(group)),
      ({ group }) => group ?? 'all',
    ),
  ];
  const series = groups.map(([label, of]) => {
    const byInstant = new Map(of.map(({ at, spend_usd }) => [at, spend_usd]));
    return { label, values: instants.map((instant) => byInstant.get(instant) ?? 0) };
  });
  const isRunning = Date.parse(to) > visit.nowMs;
  return plot({ caption: 'Spend by capability', unit: 'USD', instants, series, isRunning });
}

function firstCalls({ baseUrl }: Visit): string {
  const call = (path: string, body: string) =>
    `curl -sS ${baseUrl}${path} -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '${body}'`;
  return `${call('/v1/queue/create', '{"name":"jobs"}')}\n${call('/v1/queue/publish', '{"queue":"jobs","payload":{"hello":"world"}}')}`;
}

function byCapability(visit: Visit, { by_capability: of, spend_usd: all }: Usage): Html {
  return html`${table({
    caption: 'Spend by capability',
    rows: of.filter(({ spend_usd }) => spend_usd > 0).slice(0, ROWS),
    empty: html`<p>Nothing was spent in this period.</p>`,
    columns: [
      {
        title: 'Capability',
        cell: ({ capability }) =>
          html`<a href="${visit.path(`/usage?capability=${encodeURIComponent(capability)}`)}">${capability}</a>`,
      },
      { title: 'Calls', kind: 'number', cell: (row) => count(row.count) },
      { title: 'Units', kind: 'number', cell: ({ units }) => count(units) },
      { title: 'Spend', usd: ({ spend_usd }) => spend_usd },
      { title: 'Share', kind: 'number', cell: ({ spend_usd }) => share(spend_usd, all) },
    ],
  })}${beyond(visit, of.length, 'capability')}`;
}

/** The way to what is not among the first rows. */
function beyond(visit: Visit, rows: number, by: 'capability' | 'key'): Html {
  if (rows <= ROWS) return html``;
  const all = by === 'key' ? countOf(rows, 'key') : countOf(rows, 'capability', 'capabilities');
  return html`<p class="small"><a href="${visit.path(`/usage?${withPeriod(visit, { by })}`)}">All ${all}</a></p>`;
}

function byKey(visit: Visit, { by_key: of, spend_usd: all }: Usage, { keys, names }: Callers): Html {
  const known = new Map(keys.map((key) => [key.key_id, key]));
  return html`${table({
    caption: 'Spend by key',
    rows: of.slice(0, ROWS),
    empty: html`<p>No key was used in this period.</p>`,
    columns: [
      {
        title: 'Key',
        cell: ({ key_id }) =>
          html`<a href="${visit.path(`/usage?key_id=${encodeURIComponent(key_id)}`)}">${short(callerName(visit, key_id, names), 60)}</a>`,
      },
      { title: 'Calls', kind: 'number', cell: (row) => count(row.count) },
      { title: 'Last used', cell: ({ key_id }) => ago(visit, known.get(key_id)?.last_used_at ?? null, '') },
      { title: 'Spend', usd: ({ spend_usd }) => spend_usd },
      { title: 'Share', kind: 'number', cell: ({ spend_usd }) => share(spend_usd, all) },
    ],
  })}${beyond(visit, of.length, 'key')}`;
}
