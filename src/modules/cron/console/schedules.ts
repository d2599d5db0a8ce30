// The schedules of the account: what runs when, what its last run came to, and a new one. The secret of a new one is shown once.

import { copiedSecret } from '../../../kit/console/copied.ts';
import { field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import type { View } from '../../../kit/console/page.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { create } from '../capabilities/create.ts';
import { list } from '../capabilities/list.ts';
import { jobFields, jobPath, type Listed, nextRun, runState, scheduleText, stateOf } from './schedule.ts';

export const schedulesPage = listPage({
  ...{ name: 'schedules', path: '/schedules', nav: { label: 'Schedules', key: 's', group: 'build', holds: list } },
  ...{ title: 'Schedules', intro: 'Each run is a signed POST to an address of yours.', caption: 'All schedules', list },
  filter: { name: 'status', label: 'State of schedules', values: ['active', 'paused', 'completed'] },
  empty: (visit) => teach('There is none. Make one here or by a call:', firstCall(visit)),
  columns: (visit) => [
    {
      title: 'Name',
      cell: ({ id, name }) => html`<a href="${visit.path(jobPath(id))}">${short(name ?? id, 80)}</a>`,
    },
    { title: 'State', cell: stateOf },
    { title: 'Schedule', cell: scheduleText },
    { title: 'Next run', cell: (job) => nextRun(visit, job) },
    { title: 'Last run', cell: (job) => lastRun(visit, job) },
    { title: 'Address', cell: ({ task_url: url }) => short(url, 60) },
  ],
  create: {
    capability: create,
    heading: 'New schedule',
    input: (form) => ({
      ...{ task: textOf(form, 'task'), name: textOf(form, 'name'), timezone: textOf(form, 'timezone') },
      ...{ cron_expr: textOf(form, 'cron_expr'), run_at: textOf(form, 'run_at') },
    }),
    done: 'Schedule created.',
    shown: secretPage,
    form: (visit, act) =>
      html`${field(visit, act, { name: 'task', label: 'Address', isRequired: true, attributes: html`inputmode="url" spellcheck="false" placeholder="https://example.org/tasks/report"` })}
${jobFields(visit, act)}
<button class="main">Create schedule</button> <span class="quiet">a run is billed as cron.run; a payload and headers go by the call</span>`,
  },
});

function lastRun(visit: Visit, { last_run: run }: Listed): Html {
  return run === null ? html`<span class="quiet">none</span>` : html`${runState(run)} ${ago(visit, run.started_at)}`;
}

function secretPage({ id, name, secret }: DataOf<typeof create>, visit: Visit): View {
  const content = html`<h1>The signing secret of ${short(name ?? id, 60)}</h1>
<p>Copy it now: it is shown this once. Each run is signed with it.</p>
${copiedSecret(secret ?? '')}
<p><a href="${visit.path(jobPath(id))}">The schedule</a></p>`;
  return { title: 'A signing secret', content };
}

function firstCall({ baseUrl }: Visit): string {
  const body = JSON.stringify({ task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' });
  return `curl -sS ${baseUrl}/v1/cron/create -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
