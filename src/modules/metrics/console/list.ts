// The list of metrics: each with a small plot of its last hour and its last value, a page of them by one query.
import { panel } from '../../../kit/console/failure.ts';
import { more, table, teach } from '../../../kit/console/table.ts';
import { figure, short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { ingest } from '../capabilities/ingest.ts';
import { list } from '../capabilities/list.ts';
import { queryRange } from '../capabilities/query-range.ts';
import { seriesOf, slots } from './graph.ts';
import { line } from './line.ts';

type Metric = ItemOf<typeof list>;

const ROWS = 25;
const STEPS = 24;
const STEP_SECONDS = 150;
const NAME_LABEL = '__name__';

export async function listOfMetrics(visit: Visit): Promise<Html> {
  const cursor = visit.query.get('cursor') ?? undefined;
  const found = await visit.call(list, { cursor, limit: ROWS });
  const values = found.data === null ? new Map() : await lastHour(visit, found.data.items);
  return panel(visit, 'Metrics', found, (page) => html`${rows(visit, page.items, values)}${more(visit, page)}`);
}

type Values = readonly (number | null)[];

/** By name: of a counter the sum of its series, of others their mean. */
async function lastHour(visit: Visit, metrics: readonly Metric[]): Promise<ReadonlyMap<string, Values>> {
  if (metrics.length === 0) return new Map();
  const toMs = Math.ceil(Date.now() / 1_000 / STEP_SECONDS) * STEP_SECONDS * 1_000;
  const fromMs = toMs - STEPS * STEP_SECONDS * 1_000;
  const parts = metrics.map(
    ({ name, type }) =>
      `${isCounter(type) ? 'sum' : 'avg'} by (${NAME_LABEL}) ({${NAME_LABEL}=${JSON.stringify(name)}})`,
  );
  const answer = await visit.call(queryRange, {
    query: parts.join(` or on (${NAME_LABEL}) `),
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    step_seconds: STEP_SECONDS,
  });
  if (answer.data === null) return new Map();
  return new Map(
    seriesOf(answer.data.result).map((each) => [
      each.metric[NAME_LABEL] ?? '',
      slots(each, fromMs, STEP_SECONDS * 1_000, STEPS + 1),
    ]),
  );
}

const isCounter = (type: string | null) => type === 'counter';

function rows(visit: Visit, metrics: readonly Metric[], values: ReadonlyMap<string, Values>): Html {
  return table<Metric>({
    caption: 'Metrics',
    rows: metrics,
    empty: teach(
      'No metrics yet. Programs with OpenTelemetry send theirs to this address, Prometheus by remote write to /v1/metrics/prometheus. Or by a call:',
      visit.samples([[ingest, { items: [{ name: 'jobs_waiting', value: 3, labels: { queue: 'mail' } }] }]]),
    ),
    columns: [
      { title: 'Metric', cell: (metric) => nameCell(visit, metric) },
      { title: 'Type', cell: ({ type }) => type ?? html`<span class="quiet">not told</span>` },
      { title: 'Last hour', cell: (metric) => plotCell(metric, values.get(metric.name) ?? []) },
      { title: 'Last value', kind: 'number', cell: ({ name, unit }) => lastCell(values.get(name) ?? [], unit) },
    ],
  });
}

function nameCell(visit: Visit, { name, type, help }: Metric): Html {
  const asked = new URLSearchParams({ metric: name, ...(isCounter(type) ? { fn: 'rate', agg: 'sum' } : {}) });
  const about = help === null || help === '' ? '' : html`<br><span class="quiet small">${short(help, 160)}</span>`;
  return html`<a href="${visit.path('/metrics')}?${String(asked)}">${short(name, 80)}</a>${about}`;
}

/** A counter is drawn by what it grew from step to step. */
function plotCell({ type }: Metric, values: Values): Html {
  if (values.every((value) => value === null)) return html`<span class="quiet">nothing</span>`;
  if (!isCounter(type)) return line(values, 'Mean of its series in the last hour');
  return line(growth(values), 'Growth a step in the last hour');
}

function growth(values: Values): Values {
  return values.slice(1).map((value, i) => {
    const before = values[i] ?? null;
    return value === null || before === null ? null : Math.max(0, value - before);
  });
}

function lastCell(values: Values, unit: string | null): Html {
  const last = values.findLast((value) => value !== null);
  if (last === undefined || last === null) return html``;
  return html`<span title="${String(last)}">${figure(last)}</span>${unit === null || unit === '' ? '' : html` <span class="quiet">${short(unit, 20)}</span>`}`;
}
