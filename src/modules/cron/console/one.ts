// One schedule: when it runs next, what its runs came to; pause, resume, change, delete.

import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actButton, actForm, textOf } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, more, type Page, table } from '../../../kit/console/table.ts';
import { countOf, payload, short, time } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { remove } from '../capabilities/delete.ts';
import { get } from '../capabilities/get.ts';
import { pause } from '../capabilities/pause.ts';
import { resume } from '../capabilities/resume.ts';
import { runs as cronRuns } from '../capabilities/runs.ts';
import { update } from '../capabilities/update.ts';
import { type Job, jobFields, jobPath, nextRun, type Run, runState, scheduleText, stateOf } from './schedule.ts';

const ROWS = 25;
/** The page of its end counts no more runs than one call answers. */
const COUNTED_MAX = 100;
const idOf = ({ params: { id = '' } }: Visit) => id;
const byId = (_: unknown, visit: Visit) => ({ id: idOf(visit) });

export const schedulePage: ConsolePage = {
  name: 'schedule',
  path: '/schedules/{id}',
  needs: get,
  isLive: true,
  show,
  acts: {
    pause: { capability: pause, input: byId, done: 'The schedule is paused.' },
    resume: { capability: resume, input: byId, done: 'The schedule goes on.' },
    update: {
      capability: update,
      input: (form, visit) => ({
        id: idOf(visit),
        ...{ name: textOf(form, 'name') ?? null, timezone: textOf(form, 'timezone') },
        ...whenOf(form),
      }),
      done: 'The schedule was changed.',
    },
  },
};

/** What was cleared is taken away. */
function whenOf(form: URLSearchParams) {
  const expression = textOf(form, 'cron_expr');
  const once = textOf(form, 'run_at');
  return { cron_expr: expression ?? null, run_at: once ?? null };
}

export const scheduleDeletePage: ConsolePage = {
  name: 'schedule_delete',
  path: '/schedules/{id}/delete',
  needs: remove,
  show: showDelete,
  acts: {
    delete: {
      capability: remove,
      input(form, visit) {
        const id = idOf(visit);
        requireTyped(form, id, 'delete the schedule');
        return { id };
      },
      done: 'The schedule was deleted.',
      next: () => '/schedules',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const cursor = visit.query.get('cursor') ?? undefined;
  const [job, list] = await Promise.all([visit.need(get, { id }), visit.call(cronRuns, { id, cursor, limit: ROWS })]);
  const content = html`<p><a href="${visit.path('/schedules')}">Schedules</a></p>
<h1>${short(job.name ?? job.id, 120)}</h1>
${itself(visit, job)}
${panel(visit, 'Runs', list, (page) => html`${runs(visit, page)}${more(visit, page)}`)}
${visit.may(update) ? html`<section class="panel"><h2>Settings</h2>${actForm(visit, 'update', html`${jobFields(visit, 'update', job)}<button class="main">Change</button>`)}</section>` : ''}`;
  return { title: 'A schedule', content };
}

function itself(visit: Visit, job: Job): Html {
  const { id, status } = job;
  const headers = Object.entries(job.headers).map(([name, value]) => html`<div>${short(`${name}: ${value}`)}</div>`);
  const isNothing = job.payload === undefined || job.payload === null;
  return html`${facts([
    ['State', stateOf(job)],
    ['Schedule', html`${scheduleText(job)}${job.cron_expr === null ? '' : ` in ${job.timezone}`}`],
    ['Next run', nextRun(visit, job)],
    ['Address', short(job.task_url, 200)],
    ['ID', copiedId(id)],
    ['Headers', headers.length === 0 ? null : html`${headers}`],
    ['Secret', html`ends in <code>${job.secret_last4}</code>`],
    ['Created', time(visit, job.created_at)],
  ])}${isNothing ? '' : html`<details id="payload"><summary>Payload</summary>${payload(job.payload, 'Payload', { call: 'cron.get' })}</details>`}
<div class="actions">${status === 'active' && visit.may(pause) ? actButton(visit, 'pause', 'Pause') : ''}
${status === 'paused' && visit.may(resume) ? actButton(visit, 'resume', 'Resume') : ''}
${visit.may(remove) ? html`<a class="danger" href="${visit.path(`${jobPath(id)}/delete`)}">Delete…</a>` : ''}</div>`;
}

function runs(visit: Visit, { items }: Page<Run>): Html {
  return table<Run>({
    caption: 'Runs',
    rows: items,
    empty: html`<p>It has not run yet.</p>`,
    columns: [
      { title: 'Due', cell: (run) => html`${time(visit, run.scheduled_at)}${answerOf(run)}` },
      { title: 'State', cell: runState },
      { title: 'Answer', cell: ({ http_status: status, error_code: code }) => String(status ?? code ?? 'none yet') },
      { title: 'Took', kind: 'number', cell: ({ latency_ms: ms }) => (ms === null ? '' : `${ms} ms`) },
      { title: 'Cost', usd: ({ cost_usd: usd }) => usd },
    ],
  });
}

function answerOf({ run_id: id, response_snippet: snippet }: Run): Html {
  if (snippet === null || snippet === '') return html``;
  return html`<details id="run-${id}"><summary>Answer</summary>${payload(snippet, 'Beginning of the answer', { call: 'cron.runs' })}</details>`;
}

async function showDelete(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const [job, kept] = await Promise.all([visit.need(get, { id }), visit.need(cronRuns, { id, limit: COUNTED_MAX })]);
  const content = html`<p><a href="${visit.path(jobPath(id))}">${short(job.name ?? id, 100)}</a></p>
<h1>Delete the schedule</h1>
<p>It runs no more: its next run would be ${nextRun(visit, job)}.</p>
<p>${ofLastDay(visit, kept)}</p>
${typedForm(visit, 'delete', { wanted: id, button: 'Delete' })}`;
  return { title: 'Delete a schedule', content };
}

/** How often it ran is how often it will be missed. */
function ofLastDay({ nowMs }: Visit, { items, next_cursor: next }: Page<Run>): string {
  const day = items.filter(({ scheduled_at: at }) => Date.parse(at) > nowMs - DAY_MS);
  const told = (runs: number) =>
    runs === items.length && next !== null ? `${runs} runs or more` : countOf(runs, 'run');
  return `In the last 24 hours it had ${told(day.length)}. The record of its runs goes with it: ${told(items.length)} of 30 days.`;
}
