// The log viewer: filters in the address, records over time, the records, and what a service wrote around one of them.
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, more, table, teach } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { iso } from '../../../lib/time.ts';
import { fields } from '../capabilities/fields.ts';
import { histogram } from '../capabilities/histogram.ts';
import { ingest } from '../capabilities/ingest.ts';
import { search } from '../capabilities/search.ts';
import { settings } from '../capabilities/settings.ts';
import { bars } from './bars.ts';
import { fieldPanel, filterForm, filterOf, narrowedPath, questionOf } from './filter.ts';
import { type LogRecord, levelBadge, recordRow, serviceLink } from './record.ts';

const ROWS = 50;
const AROUND = 15;
/** How soon new records are shown that no tick tells. */
const AGAIN_SECONDS = 5;

export const logsPage: ConsolePage = {
  name: 'logs',
  path: '/logs',
  needs: search,
  nav: { label: 'Logs', key: 'j', group: 'observe' },
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const around = visit.query.get('around');
  if (around !== null) return aroundView(visit, around);
  const question = questionOf(visit);
  const cursor = visit.query.get('cursor') ?? undefined;
  const [found, counts, known] = await Promise.all([
    visit.call(search, { ...question, cursor, limit: ROWS }),
    visit.call(histogram, question),
    visit.may(fields) ? visit.call(fields, {}) : null,
  ]);
  const services = known?.data?.services.map(({ name }) => name) ?? [];
  const isLatest = cursor === undefined && question.to === undefined;
  const content = html`${title(visit, isLatest)}
${filterForm(visit, services)}
${panel(visit, 'Over time', counts, (data) => bars(visit, data))}
${panel(visit, 'Records', found, (page) => html`${fieldPanel(visit, known?.data ?? null, page.items)}${records(visit, page.items)}${more(visit, page)}`)}`;
  return { title: 'Logs', content, ...(isLatest ? { againSeconds: AGAIN_SECONDS } : {}) };
}

/** A page that shows the latest records shows new ones as they come. It rests where its time has an end: "Pause" sets that to now. */
function title(visit: Visit, isLatest: boolean): Html {
  const link = visit.may(settings.getSettings) ? html` <a href="${visit.path('/logs/settings')}">Settings</a>` : '';
  const state = isLatest
    ? html`${badge('Live', 'good')} <a class="button" href="${narrowedPath(visit, { to: iso(visit.nowMs) })}">Pause</a>`
    : html`${badge('Paused', 'warning')} <a class="button" href="${narrowedPath(visit, { to: null })}">Resume</a>`;
  return html`<div class="head"><h1>Logs</h1><div class="actions">${state}${link}</div></div>`;
}

function records(visit: Visit, rows: readonly LogRecord[], around: string | null = null): Html {
  const isAll = Object.keys(filterOf(visit)).length === 0;
  return table<LogRecord>({
    caption: 'Records',
    rows,
    empty: isAll
      ? teach(
          'No records yet. Programs with OpenTelemetry send theirs to this address; loggers for Loki push to /v1/logs. Or by a call:',
          visit.samples([[ingest, { items: [{ service: 'shop', level: 'info', message: 'started' }] }]]),
        )
      : html`<p>No records match.</p>`,
    columns: [
      {
        title: 'Time',
        cell: ({ timestamp }) =>
          timestamp === around ? html`${time(visit, timestamp)} ${badge('this record')}` : time(visit, timestamp),
      },
      { title: 'Level', cell: levelBadge },
      { title: 'Service', cell: (record) => serviceLink(visit, record) },
      { title: 'Message', cell: (record) => recordRow(visit, record) },
    ],
  });
}

/** What a service wrote before and after an instant, in the order of time, the latest first. */
async function aroundView(visit: Visit, around: string): Promise<View> {
  const service = visit.query.get('service') || undefined;
  const afterMs = Date.parse(around) + 1;
  const middle = Number.isNaN(afterMs) ? around : new Date(afterMs).toISOString();
  const [before, after] = await Promise.all([
    visit.call(search, { service, to: middle, limit: AROUND }),
    visit.call(search, { service, from: middle, order: 'oldest', limit: AROUND }),
  ]);
  const list = (read: typeof before, rows: (items: readonly LogRecord[]) => readonly LogRecord[], heading: string) =>
    panel(visit, heading, read, ({ items }) => records(visit, rows(items), around));
  const of = service === undefined ? '' : html` of ${short(service, 60)}`;
  const content = html`<p><a href="${visit.path('/logs')}">Logs</a></p><h1>Around a record</h1>
<p class="quiet">${String(AROUND)} records${of} before and after ${time(visit, around)}.</p>
${list(after, (items) => items.toReversed(), 'After it')}
${list(before, (items) => items, 'The record, and before it')}`;
  return { title: 'Around a record', content };
}
