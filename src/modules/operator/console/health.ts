// Health page of the service: processes, backlog of lanes and deliveries, and findings of the last run of the doctor.

import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, figures, table } from '../../../kit/console/table.ts';
import { ago, count, countOf, durationText, short, time } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { health as operatorHealth } from '../capabilities/health.ts';
import { operatorTabs } from './operator.ts';

type Health = DataOf<typeof operatorHealth>;

export const operatorHealthPage: ConsolePage = {
  name: 'operator_health',
  path: '/operator/health',
  needs: operatorHealth,
  show,
};

async function show(visit: Visit): Promise<View> {
  const health = await visit.need(operatorHealth);
  const { lanes, backlog } = health;
  const content = html`<h1>Health</h1>
${operatorTabs(visit, '/health')}
<section class="panel" aria-label="Backlog">${figures([
    ['Processes', count(health.processes.length)],
    ['Calls in lanes', count(lanes.calls_waiting), 'wait for or are in a commit'],
    ['Unsequenced events', count(backlog.events_waiting)],
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
  if (last === null) return html`<p>Not run yet. <code>qm doctor</code> checks that all books balance.</p>`;
  const verdict = last.findings === 0 ? badge('adds up', 'good') : badge(countOf(last.findings, 'finding'), 'critical');
  return html`<p>${verdict} in ${countOf(last.accounts, 'account')}, ${ago(visit, last.at)}. Run <code>qm doctor</code> ${last.findings === 0 ? 'to check again' : 'for details'}.</p>`;
}

function processes(visit: Visit, { processes: all }: Health): Html {
  return table({
    caption: 'Processes',
    rows: all,
    empty: html`<p>No process was seen in the last three minutes.</p>`,
    columns: [
      { title: 'Process', cell: ({ process_id: id }) => short(id, 80) },
      { title: 'Roles', cell: ({ roles }) => roles.join(', ') },
      { title: 'Started', cell: ({ started_at }) => time(visit, started_at) },
      { title: 'Last seen', cell: ({ seen_at }) => ago(visit, seen_at) },
    ],
  });
}
