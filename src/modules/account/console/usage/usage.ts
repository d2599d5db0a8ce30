// Usage report: spend and calls of a period, by capability or key, compared with the period before. The address holds every choice. Free calls,
// such as those of the console itself, are hidden unless asked for.

import { csv, csvHref } from '../../../../kit/console/csv.ts';
import { contentOrFailure, panel } from '../../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../../kit/console/page.ts';
import {
  type Period,
  periodBefore,
  periodControl,
  periodFields,
  periodOf,
  stepTabs,
} from '../../../../kit/console/period.ts';
import { keyFilter } from '../../../../kit/console/pick.ts';
import { plot } from '../../../../kit/console/plot.ts';
import { figures, share, table, tabs, withQuery } from '../../../../kit/console/table.ts';
import { count, countOf, money, shareText, short } from '../../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { usage as accountUsage } from '../../capabilities/usage.ts';
import { usageTimeseries } from '../../capabilities/usage-timeseries.ts';
import { type CallerNames, callerName, readCallers } from './caller.ts';

interface Sum {
  readonly spend_usd: number;
  readonly count: number;
  readonly error_count: number;
  readonly units: number;
}

type Usage = DataOf<typeof accountUsage>;

type Series = DataOf<typeof usageTimeseries>;

interface Row extends Sum {
  readonly id: string;
  readonly name: string;
  /** Spend in the period before, USD. */
  readonly before: number;
}

type Figure = 'USD' | 'calls' | 'failed';

const FIELDS = { USD: 'spend_usd', calls: 'request_count', failed: 'error_count' } as const;

function figureOf({ query }: Visit): Figure {
  const sent = query.get('figure');
  return sent === 'calls' || sent === 'failed' ? sent : 'USD';
}

export const usagePage: ConsolePage = {
  name: 'usage',
  path: '/usage',
  needs: accountUsage,
  nav: { label: 'Usage', key: 'u', group: 'start' },
  isLive: true,
  show,
  csv: file,
};

async function show(visit: Visit): Promise<View> {
  const { query } = visit;
  const period = periodOf(visit);
  const before = periodBefore(period);
  const by = query.get('by') === 'key' ? 'key' : 'capability';
  const figure = figureOf(visit);
  const filter = filterOf(visit);
  const within = ({ from, to }: Pick<Period, 'from' | 'to'>) => ({ from, to, ...filter });
  const [now, earlier, series, { names }] = await Promise.all([
    visit.call(accountUsage, within(period)),
    visit.call(accountUsage, within(before)),
    visit.call(usageTimeseries, {
      ...within(period),
      granularity: period.granularity,
      group_by: by,
    }),
    readCallers(visit),
  ]);
  const content = html`<h1>Usage</h1>
${periodControl(visit, period)}
<div class="side">${tabs('Group by', [
    { text: 'By capability', href: withQuery(visit, { by: null }), isHere: by === 'capability' },
    { text: 'By key', href: withQuery(visit, { by: 'key' }), isHere: by === 'key' },
  ])}
${tabs('Figure', [
  { text: 'Spend', href: withQuery(visit, { figure: null }), isHere: figure === 'USD' },
  { text: 'Calls', href: withQuery(visit, { figure: 'calls' }), isHere: figure === 'calls' },
  { text: 'Failed', href: withQuery(visit, { figure: 'failed' }), isHere: figure === 'failed' },
])}
${stepTabs(visit, period)}</div>
${filterForm(visit, filter, names)}
${contentOrFailure(visit, now, (data) => sums(data, earlier.data))}
${contentOrFailure(visit, series, (data) => usagePlot(visit, data, period, figure, names))}
${panel(visit, by === 'key' ? 'Keys' : 'Capabilities', now, (data) => html`${rows(visit, rowsOf(visit, [data, earlier.data], by, names), data.spend_usd)}<p><a href="${csvHref(visit)}">As CSV</a></p>`)}`;
  return { title: 'Usage', content, hasPlots: true };
}

/** The table as a file. */
async function file(visit: Visit): Promise<string> {
  const period = periodOf(visit);
  const filter = filterOf(visit);
  const of = ({ from, to }: Pick<Period, 'from' | 'to'>) => visit.need(accountUsage, { from, to, ...filter });
  const [now, earlier] = await Promise.all([of(period), of(periodBefore(period))]);
  const by = visit.query.get('by') === 'key' ? 'key' : 'capability';
  return csv(
    [by === 'key' ? 'key_id' : 'capability', 'calls', 'units', 'spend_usd', 'spend_before_usd'],
    rowsOf(visit, [now, earlier], by, new Map()).map((row) => [
      row.id,
      row.count,
      row.units,
      row.spend_usd,
      row.before,
    ]),
  );
}

interface Filter {
  readonly capability?: string | undefined;
  readonly key_id?: string | undefined;
  readonly console_calls?: 'billed' | undefined;
}

function filterOf(visit: Visit): Filter {
  const keyId = visit.query.get('key_id') || undefined;
  return {
    capability: visit.query.get('capability')?.trim() || undefined,
    key_id: keyId,
    console_calls: isAll(visit) || keyId !== undefined ? undefined : 'billed',
  };
}

/** Whether free calls and those of the console are shown too. */
function isAll({ query }: Visit): boolean {
  return query.get('show') === 'all';
}

/** What the figures are narrowed to. A key that the list does not have, such as one that has ended, stays chosen. */
function filterForm(visit: Visit, { capability, key_id: keyId }: Filter, names: CallerNames): Html {
  const kept = ['by', 'figure'].flatMap((name) => {
    const value = visit.query.get(name);
    return value === null ? [] : [html`<input type="hidden" name="${name}" value="${value}">`];
  });
  const all = html` <a href="${withQuery(visit, { capability: null, key_id: null })}">Clear</a>`;
  const whole = html`<label class="choice"><input type="checkbox" name="show" value="all"${isAll(visit) ? html` checked` : ''}> Free and console calls</label>`;
  return html`<form method="get" class="row" aria-label="Narrow the figures">${periodFields(visit)}${kept}<label>Capability <input type="search" name="capability" value="${capability ?? ''}" placeholder="queue.publish" spellcheck="false" autocapitalize="off"></label> ${keyFilter([...names], keyId)} ${whole} <button>Filter</button>${capability === undefined && keyId === undefined ? '' : all}</form>`;
}

function sums(now: Usage, before: Usage | null): Html {
  return figures([
    ['Spend', money(now.spend_usd), before === null ? '' : html`${money(before.spend_usd)} in the period before`],
    ['Calls', count(now.request_count), before === null ? '' : `${count(before.request_count)} in the period before`],
    ['Failed', count(now.error_count), shareText(now.error_count, now.request_count)],
  ]);
}

function usagePlot(visit: Visit, { items }: Series, { to }: Period, figure: Figure, names: CallerNames): Html {
  const groups = [...Map.groupBy(items, ({ group }) => group ?? 'all')].filter(([, of]) =>
    of.some((point) => point[FIELDS[figure]] > 0),
  );
  if (groups.length === 0) return html``;
  const instants = [...new Set(items.map(({ at }) => at))];
  const series = groups.map(([group, of]) => {
    const byInstant = new Map(of.map((point) => [point.at, point[FIELDS[figure]]]));
    return { label: callerName(visit, group, names), values: instants.map((instant) => byInstant.get(instant) ?? 0) };
  });
  const caption = { USD: 'Spend', calls: 'Calls', failed: 'Failed calls' }[figure];
  return plot({
    caption,
    unit: figure === 'failed' ? 'calls' : figure,
    instants,
    series,
    isRunning: Date.parse(to) > visit.nowMs,
  });
}

/** Those of the period, then those that only the period before has. */
function rowsOf(
  visit: Visit,
  [now, before]: readonly [Usage, Usage | null],
  by: 'key' | 'capability',
  names: CallerNames,
): Row[] {
  const sums = (usage: Usage | null): (Sum & { readonly id: string })[] =>
    usage === null
      ? []
      : by === 'key'
        ? usage.by_key.map((sum) => ({ ...sum, id: sum.key_id }))
        : usage.by_capability.map((sum) => ({ ...sum, id: sum.capability }));
  const earlier = new Map(sums(before).map((sum) => [sum.id, sum.spend_usd]));
  const present = sums(now);
  const gone = [...earlier.keys()].filter((id) => !present.some((sum) => sum.id === id));
  return [...present, ...gone.map((id) => ({ id, count: 0, error_count: 0, units: 0, spend_usd: 0 }))].map((sum) => ({
    ...sum,
    name: callerName(visit, sum.id, names),
    before: earlier.get(sum.id) ?? 0,
  }));
}

/** Of spend what was paid for, of failures what failed, the most first. */
function shownRows(visit: Visit, all: readonly Row[]): readonly Row[] {
  const figure = figureOf(visit);
  if (figure === 'failed')
    return all.filter(({ error_count }) => error_count > 0).sort((one, other) => other.error_count - one.error_count);
  return figure === 'calls' || isAll(visit) ? all : all.filter((row) => row.spend_usd > 0 || row.before > 0);
}

function rows(visit: Visit, all: readonly Row[], spent: number): Html {
  const field = visit.query.get('by') === 'key' ? 'key_id' : 'capability';
  const shown = shownRows(visit, all);
  const free = figureOf(visit) === 'USD' ? all.length - shown.length : 0;
  const what = field === 'key_id' ? countOf(free, 'key') : countOf(free, 'capability', 'capabilities');
  const link = html`<a href="${withQuery(visit, { show: 'all' })}">Show all</a>`;
  const hidden = html`<p class="small quiet">${what} with free calls only. ${link}</p>`;
  return html`${usageTable(visit, shown, { field, spent })}${free === 0 ? '' : hidden}`;
}

interface Told {
  /** Of the address, which a row's link narrows the page by. */
  readonly field: 'key_id' | 'capability';
  /** In all, USD. */
  readonly spent: number;
}

function usageTable(visit: Visit, of: readonly Row[], { field, spent }: Told): Html {
  return table({
    caption: 'Usage',
    rows: of,
    empty: html`<p>${figureOf(visit) === 'USD' ? 'Nothing was spent in this period.' : 'No calls in this period.'} ${isAll(visit) ? html`<a href="${visit.path('')}">Make a first call</a>` : html`<a href="${withQuery(visit, { show: 'all' })}">Show free and console calls</a>`}</p>`,
    columns: [
      {
        title: 'Name',
        cell: ({ id, name }) => html`<a href="${withQuery(visit, { [field]: id })}">${short(name, 80)}</a>`,
      },
      { title: 'Calls', kind: 'number', cell: (row) => count(row.count) },
      { title: 'Failed', kind: 'number', cell: (row) => count(row.error_count) },
      { title: 'Units', kind: 'number', cell: ({ units }) => count(units) },
      { title: 'Before', usd: ({ before }) => before },
      { title: 'Spend', usd: ({ spend_usd }) => spend_usd },
      { title: 'Share', kind: 'number steady', cell: ({ spend_usd }) => share(spend_usd, spent) },
    ],
  });
}
