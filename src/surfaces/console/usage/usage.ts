// Where the money went: spend and calls of a period, by capability or key, beside the period before. All of it stands in the address.
import { type Html, html } from '../../../lib/html.ts';
import type { ConsolePage, View } from '../page.ts';
import { csv, csvHref } from '../parts/csv.ts';
import { panel, shown } from '../parts/failure.ts';
import { type Period, periodBefore, periodControl, periodOf } from '../parts/period.ts';
import { plot } from '../parts/plot.ts';
import { figures, table, tabs, withQuery } from '../parts/table.ts';
import { count, money, moneyText, short } from '../parts/text.ts';
import type { Visit } from '../visit.ts';

interface Sum {
  readonly spend_usd: number;
  readonly count: number;
  readonly units: number;
}

interface Usage {
  readonly spend_usd: number;
  readonly request_count: number;
  readonly error_count: number;
  readonly by_capability: readonly (Sum & { readonly capability: string })[];
  readonly by_key: readonly (Sum & { readonly key_id: string })[];
}

interface Series {
  readonly points: readonly {
    readonly ts: string;
    readonly group: string | null;
    readonly spend_usd: number;
    readonly request_count: number;
  }[];
}

interface Key {
  readonly id: string;
  readonly name: string | null;
}

interface Row extends Sum {
  readonly id: string;
  readonly name: string;
}

export const usagePage: ConsolePage = {
  name: 'usage',
  path: '/usage',
  needs: 'account.usage',
  nav: { label: 'Usage', key: 'u' },
  isLive: true,
  show,
  csv: file,
};

async function show(visit: Visit): Promise<View> {
  const { query } = visit;
  const period = periodOf(visit);
  const before = periodBefore(period);
  const by = query.get('by') === 'key' ? 'key' : 'capability';
  const figure = query.get('figure') === 'calls' ? 'calls' : 'USD';
  const filter = { capability: query.get('capability') || undefined, key_id: query.get('key_id') || undefined };
  const within = ({ from, to }: Period) => ({ from, to, ...filter });
  const [now, earlier, series, keys] = await Promise.all([
    visit.call<Usage>('account.usage', within(period)),
    visit.call<Usage>('account.usage', within(before)),
    visit.call<Series>('account.usage.timeseries', {
      ...within(period),
      granularity: period.granularity,
      group_by: by,
    }),
    visit.call<{ readonly items: readonly Key[] }>('account.keys.list', { limit: 100 }),
  ]);
  const names = new Map((keys.data?.items ?? []).map(({ id, name }) => [id, name ?? id]));
  const content = html`<h1>Usage</h1>
${periodControl(visit, period)}
<div class="side">${tabs('Told apart', [
    { text: 'By capability', href: withQuery(visit, { by: null }), isHere: by === 'capability' },
    { text: 'By key', href: withQuery(visit, { by: 'key' }), isHere: by === 'key' },
  ])}
${tabs('Figure', [
  { text: 'Spend', href: withQuery(visit, { figure: null }), isHere: figure === 'USD' },
  { text: 'Calls', href: withQuery(visit, { figure: 'calls' }), isHere: figure === 'calls' },
])}</div>
${filters(visit, filter, names)}
${shown(visit, now, (data) => sums(data, earlier.data))}
${shown(visit, series, (data) => drawn(visit, data, period, figure, names))}
${panel(visit, by === 'key' ? 'Keys' : 'Capabilities', now, (data) => html`${rows(visit, rowsOf(data, by, names), rowsOf(earlier.data, by, names))}<p><a href="${csvHref(visit)}">As CSV</a></p>`)}`;
  return { title: 'Usage', content, hasPlots: true };
}

/** The table as a file. */
async function file(visit: Visit): Promise<string> {
  const { from, to } = periodOf(visit);
  const filter = {
    capability: visit.query.get('capability') || undefined,
    key_id: visit.query.get('key_id') || undefined,
  };
  const { by_capability, by_key } = await visit.need<Usage>('account.usage', { from, to, ...filter });
  const isByKey = visit.query.get('by') === 'key';
  const rows = isByKey
    ? by_key.map(({ key_id, ...sum }) => [key_id, sum.count, sum.units, sum.spend_usd])
    : by_capability.map(({ capability, ...sum }) => [capability, sum.count, sum.units, sum.spend_usd]);
  return csv([isByKey ? 'key_id' : 'capability', 'calls', 'units', 'spend_usd'], rows);
}

/** What the figures are narrowed to, and the way out. */
function filters(
  visit: Visit,
  { capability, key_id: keyId }: { readonly capability?: string; readonly key_id?: string },
  names: ReadonlyMap<string, string>,
): Html {
  const one = (label: string, text: string, field: string) =>
    html`<p class="small">Only ${label} ${short(text, 80)}. <a href="${withQuery(visit, { [field]: null })}">Show all</a></p>`;
  return html`${capability === undefined ? '' : one('the capability', capability, 'capability')}${keyId === undefined ? '' : one('the key', names.get(keyId) ?? keyId, 'key_id')}`;
}

function sums(now: Usage, before: Usage | null): Html {
  const failed = now.request_count === 0 ? 0 : (100 * now.error_count) / now.request_count;
  return figures([
    ['Spend', money(now.spend_usd), before === null ? '' : `${moneyText(before.spend_usd)} USD in the period before`],
    ['Calls', count(now.request_count), before === null ? '' : `${count(before.request_count)} in the period before`],
    ['Failed', count(now.error_count), `${failed.toFixed(1)} %`],
  ]);
}

function drawn(
  visit: Visit,
  { points }: Series,
  { to }: Period,
  figure: 'USD' | 'calls',
  names: ReadonlyMap<string, string>,
): Html {
  const figureOf = (point: Series['points'][number]) => (figure === 'USD' ? point.spend_usd : point.request_count);
  const groups = [...Map.groupBy(points, ({ group }) => group ?? 'all')].filter(([, of]) =>
    of.some((point) => figureOf(point) > 0),
  );
  if (groups.length === 0) return html`<p class="empty">Nothing to draw in this time.</p>`;
  const instants = [...new Set(points.map(({ ts }) => ts))];
  const series = groups.map(([group, of]) => {
    const byInstant = new Map(of.map((point) => [point.ts, figureOf(point)]));
    return { label: names.get(group) ?? group, values: instants.map((instant) => byInstant.get(instant) ?? 0) };
  });
  const caption = figure === 'USD' ? 'Spend' : 'Calls';
  return plot({ caption, unit: figure, instants, series, isRunning: Date.parse(to) > visit.nowMs });
}

function rowsOf(usage: Usage | null, by: 'key' | 'capability', names: ReadonlyMap<string, string>): Row[] {
  if (usage === null) return [];
  if (by === 'key')
    return usage.by_key.map((sum) => ({ ...sum, id: sum.key_id, name: names.get(sum.key_id) ?? sum.key_id }));
  return usage.by_capability.map((sum) => ({ ...sum, id: sum.capability, name: sum.capability }));
}

function rows(visit: Visit, of: readonly Row[], before: readonly Row[]): Html {
  const spentBefore = new Map(before.map(({ id, spend_usd }) => [id, spend_usd]));
  const field = visit.query.get('by') === 'key' ? 'key_id' : 'capability';
  return table({
    caption: 'Usage',
    rows: of,
    empty: html`<p>No calls in this time.</p>`,
    columns: [
      {
        title: 'Name',
        cell: ({ id, name }) => html`<a href="${withQuery(visit, { [field]: id })}">${short(name, 80)}</a>`,
      },
      { title: 'Calls', kind: 'number', cell: (row) => count(row.count) },
      { title: 'Units', kind: 'number', cell: ({ units }) => count(units) },
      { title: 'Before', kind: 'number', cell: ({ id }) => money(spentBefore.get(id) ?? 0) },
      { title: 'Spend', kind: 'number', cell: ({ spend_usd }) => money(spend_usd) },
    ],
  });
}
