// The schedules of the account: what runs when, what its last run came to, and a new one. The secret of a new one is shown once.

import { answerText } from '../../../kit/console/answer.ts';
import { copiedSecret } from '../../../kit/console/copied.ts';
import { textOf } from '../../../kit/console/form.ts';
import { instantOf } from '../../../kit/console/instant-field.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import type { View } from '../../../kit/console/page.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { create } from '../capabilities/create.ts';
import { list } from '../capabilities/list.ts';
import {
  jobFields,
  jobPath,
  type Listed,
  nextRun,
  runState,
  scheduleText,
  stateOf,
  targetText,
  withTarget,
} from './schedule.ts';

export const schedulesPage = listPage({
  name: 'schedules',
  path: '/schedules',
  nav: { label: 'Schedules', key: 's', group: 'build' },
  title: 'Schedules',
  intro: 'Each run is a signed POST to your URL, a message to a queue, or the call of a capability.',
  caption: 'All schedules',
  list,
  filter: { name: 'status', label: 'Status of schedules', values: ['active', 'paused', 'completed'] },
  empty: (visit) => teach('No schedules yet. To call a URL every day at nine:', firstCall(visit)),
  columns: (visit) => [
    {
      title: 'Name',
      cell: ({ job_id: id, name }) => html`<a href="${visit.path(jobPath(id))}">${short(name ?? id, 80)}</a>`,
    },
    { title: 'Status', cell: stateOf },
    { title: 'Schedule', cell: scheduleText },
    { title: 'Next run', cell: (job) => nextRun(visit, job.next_run_at, job.timezone) },
    { title: 'Last run', cell: (job) => lastRun(visit, job) },
    { title: 'Target', cell: (job) => targetText(job, 60) },
  ],
  create: {
    capability: create,
    heading: 'New schedule',
    input: (form, visit) =>
      withTarget(
        {
          name: textOf(form, 'name'),
          timezone: textOf(form, 'timezone'),
          cron_expr: textOf(form, 'cron_expr'),
          run_at: instantOf(form, 'run_at', visit),
        },
        form,
      ),
    done: 'Schedule created.',
    answerView: secretPage,
    form: async (visit, act) =>
      html`${await jobFields(visit, act)}
<button class="main">Create schedule</button> <span class="quiet">$0.00002 per run of a URL; other runs cost what they call. Headers are set by the API.</span>`,
  },
});

function lastRun(visit: Visit, { last_run: run }: Listed): Html {
  return run === null
    ? html`<span class="quiet">none</span>`
    : html`${runState(run)} ${ago(visit, run.started_at)}${run.status === 'failed' ? html` <span class="quiet">${answerText(run) ?? ''}</span>` : ''}`;
}

function secretPage({ job_id: id, name, secret }: DataOf<typeof create>, visit: Visit): View {
  const content = html`<h1>Signing secret of ${short(name ?? id, 60)}</h1>
<p>Copy it now: it is shown only once. Each run is signed with it.</p>
${copiedSecret(secret ?? '')}
<p><a href="${visit.path(jobPath(id))}">Open the schedule</a></p>`;
  return { title: 'Signing secret', content };
}

function firstCall(visit: Visit) {
  return visit.samples([[create, { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' }]]);
}
