// Whether the service is well: its processes, what waits in lanes and for delivery, and what the doctor found when it last looked.
import { type Html, html } from '../../../lib/html.ts';
import type { ConsolePage, View } from '../page.ts';
import { badge, figures, table } from '../parts/table.ts';
import { ago, count, countOf, durationText, short, time } from '../parts/text.ts';
import type { Visit } from '../visit.ts';
import { operatorTabs } from './operator.ts';

interface Health {
  readonly processes: readonly {
    readonly process_id: string;
    readonly role: string;
    readonly started_at: string;
    readonly seen_at: string;
  }[];
  readonly lanes: { readonly calls_waiting: number };
  readonly backlog: {
    readonly events_waiting: number;
    readonly deliveries_due: number;
    readonly oldest_due_seconds: number;
  };
  readonly doctor: { readonly at: string; readonly accounts: number; readonly findings: number } | null;
}

export const operatorHealthPage: ConsolePage = {
  name: 'operator_health',
  path: '/operator/health',
  needs: 'operator.health',
  show,
};

async function show(visit: Visit): Promise<View> {
  const health = await visit.need<Health>('operator.health');
  const { lanes, backlog } = health;
  const content = html`<h1>Health</h1>
${operatorTabs(visit, '/health')}
<section class="panel" aria-label="What waits">${figures([
    ['Processes', count(health.processes.length)],
    ['Calls in lanes', count(lanes.calls_waiting), 'wait for or are in a commit'],
    ['Events without a number', count(backlog.events_waiting)],
    [
      'Deliveries due',
      count(backlog.deliveries_due),
      backlog.deliveries_due === 0 ? 'none waits' : `the oldest for ${durationText(backlog.oldest_due_seconds)}`,
    ],
  ])}</section>
<section class="panel"><h2>Doctor</h2>${doctor(visit, health)}</section>
<section class="panel"><h2>Processes</h2>${processes(visit, health)}</section>`;
  return { title: 'Health', content };
}

function doctor(visit: Visit, { doctor: last }: Health): Html {
  if (last === null) return html`<p>It has not looked yet. <code>qm doctor</code> checks that the books add up.</p>`;
  const verdict = last.findings === 0 ? badge('adds up', 'good') : badge(countOf(last.findings, 'finding'), 'critical');
  return html`<p>${verdict} in ${countOf(last.accounts, 'account')}, ${ago(visit, last.at)}. <code>qm doctor</code> looks again${last.findings === 0 ? '' : ' and says what is wrong'}.</p>`;
}

function processes(visit: Visit, { processes: all }: Health): Html {
  return table({
    caption: 'Processes',
    rows: all,
    empty: html`<p>None was seen in the last three minutes.</p>`,
    columns: [
      { title: 'Process', cell: ({ process_id: id }) => short(id, 80) },
      { title: 'Does', cell: ({ role }) => role },
      { title: 'Started', cell: ({ started_at }) => time(visit, started_at) },
      { title: 'Seen', cell: ({ seen_at }) => ago(visit, seen_at) },
    ],
  });
}
