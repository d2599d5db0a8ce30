// Metrics: the list, and the explorer. Its fields write PromQL, which a person may edit; both stand in the address. The answer is a graph with its
// figures, and the series below narrow the query by their labels.
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { table } from '../../../kit/console/table.ts';
import { countOf, figure, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { dashboards } from '../capabilities/dashboards.ts';
import { query } from '../capabilities/query.ts';
import { queryRange } from '../capabilities/query-range.ts';
import { settings } from '../capabilities/settings.ts';
import { type Fields, fieldsOf, labelField, pairsOf, promqlOf } from './builder.ts';
import { explorer } from './explorer.ts';
import { graphOf, type Shown, seriesOf } from './graph.ts';
import { listOfMetrics } from './list.ts';
import { periodFrom, type Range, rangeOf } from './range.ts';

const ROWS = 50;
const DASHBOARDS = 20;
const AGAIN_SECONDS = 30;
const PLAIN_NAME = /^[A-Za-z_:][\w:]*$/;

export const metricsPage: ConsolePage = {
  name: 'metrics',
  path: '/metrics',
  needs: query,
  nav: { label: 'Metrics', key: 'M', group: 'observe' },
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const typed = (visit.query.get('query') ?? '').trim();
  const sent = fieldsOf(visit.query);
  // A name that somebody typed as a query is a metric that is chosen.
  const fields = sent.metric === '' && PLAIN_NAME.test(typed) ? { ...sent, metric: typed } : sent;
  const text = typed === '' ? promqlOf(fields) : typed;
  const period = periodFrom(visit);
  const content = html`${title(visit)}
${await explorer(visit, { fields, text, period })}
${text === '' ? await listOfMetrics(visit) : await answer(visit, text, rangeOf(period))}`;
  const isAsked = text !== '';
  return { title: 'Metrics', content, againSeconds: AGAIN_SECONDS, ...(isAsked ? { hasPlots: true } : {}) };
}

function title(visit: Visit): Html {
  const boards = visit.may(dashboards.list) ? html`<a href="${visit.path('/metrics/dashboards')}">Dashboards</a>` : '';
  const link = visit.may(settings.getSettings) ? html` <a href="${visit.path('/metrics/settings')}">Settings</a>` : '';
  return html`<div class="head"><h1>Metrics</h1><div class="actions">${boards}${link}</div></div>`;
}

async function answer(visit: Visit, text: string, range: Range): Promise<Html> {
  const found = await visit.call(queryRange, {
    query: text,
    step_seconds: range.stepMs / 1_000,
    from: new Date(range.startMs).toISOString(),
    to: new Date(range.endMs).toISOString(),
  });
  const keep = found.data === null ? '' : await keepLinks(visit, text);
  return html`${panel(visit, 'Answer', found, ({ result }) => {
    const series = seriesOf(result);
    return html`${graphOf(series, range)}${seriesTable(visit, series)}`;
  })}${keep}`;
}

/** Leads to the form of a panel of each dashboard, with this query in it. */
async function keepLinks(visit: Visit, text: string): Promise<Html> {
  if (!visit.may(dashboards.update) || !visit.may(dashboards.list)) return html``;
  const { data } = await visit.call(dashboards.list, { limit: DASHBOARDS });
  const asked = new URLSearchParams({ new: '1', query: text });
  const links = (data?.items ?? []).map(
    ({ dashboard_id: id, name }) =>
      html`<li><a href="${visit.path(`/metrics/dashboards/${encodeURIComponent(id)}`)}?${String(asked)}">${short(name, 60)}</a></li>`,
  );
  return html`<details class="block"><summary>Add this query to a dashboard</summary>
<ul>${links}<li><a href="${visit.path('/metrics/dashboards')}?new=1">New dashboard</a></li></ul></details>`;
}

function seriesTable(visit: Visit, series: readonly Shown[]): Html {
  const shown = series.slice(0, ROWS);
  const note =
    series.length > ROWS
      ? html`<p class="quiet">${countOf(series.length, 'series', 'series')}; the first ${String(ROWS)} are listed.</p>`
      : '';
  return html`${note}${table<Shown>({
    caption: 'Series',
    rows: shown,
    empty: html`<p>No series in this time.</p>`,
    columns: [
      { title: 'Series', cell: ({ metric }) => labelLinks(visit, metric) },
      {
        title: 'Last value',
        kind: 'number',
        cell: ({ last }) => html`<span title="${last}">${valueText(last)}</span>`,
      },
    ],
  })}`;
}

/** Each label narrows the query to the series that have it: the fields where a metric is chosen, else the name of the series. */
function labelLinks(visit: Visit, metric: Readonly<Record<string, string>>): Html {
  const { __name__: name = '', ...others } = metric;
  const fields = fieldsOf(visit.query);
  const of = fields.metric === '' ? { ...fields, metric: name } : fields;
  const pairs = Object.entries(others).map(([label, value]) => {
    const text = html`${label}=${short(value, 60)}`;
    if (of.metric === '') return html`<code>${text}</code> `;
    return html`<a href="${narrowedPath(visit, of, label, value)}"><code>${text}</code></a> `;
  });
  return html`${short(name, 80)} ${pairs}${name === '' && pairs.length === 0 ? 'all' : ''}`;
}

function narrowedPath(visit: Visit, fields: Fields, label: string, value: string): string {
  const kept = pairsOf(fields).filter(([name]) => name !== labelField(label));
  const period = visit.query.get('period');
  const asked = new URLSearchParams([
    ...kept,
    [labelField(label), value],
    ...(period === null ? [] : [['period', period]]),
  ]);
  return `${visit.path('/metrics')}?${asked}`;
}

/** As PromQL writes it where it is no number that can be drawn: `NaN`, `+Inf`. */
function valueText(value: string): string {
  const number = Number(value);
  return value !== '' && Number.isFinite(number) ? figure(number) : value;
}
