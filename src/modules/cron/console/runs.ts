// The first page of a schedule: when it runs next, what it sends, and what its runs came to; run it now, pause it, resume it.

import { answerText } from '../../../kit/console/answer.ts';
import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actButton } from '../../../kit/console/form.ts';
import type { ResourcePage } from '../../../kit/console/resource-pages.ts';
import { facts, more, type Page, table } from '../../../kit/console/table.ts';
import { ago, count, countOf, payload, short, time } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { pause } from '../capabilities/pause.ts';
import { resume } from '../capabilities/resume.ts';
import { run as cronRun } from '../capabilities/run.ts';
import { runs as cronRuns } from '../capabilities/runs.ts';
import { type Job, nextRun, type Run, runState, targetText } from './schedule.ts';

const ROWS = 25;
/** While a run goes on. */
const RUN_SECONDS = 2;
const byId = (_: unknown, { params: { id } }: Visit) => ({ job_id: id });

export const runsPage: ResourcePage<Job> = {
  below: '',
  tab: 'Runs',
  isLive: true,
  actions,
  show,
  acts: {
    run: { capability: cronRun, input: byId, done: 'Run started.' },
    pause: { capability: pause, input: byId, done: 'Schedule paused.' },
    resume: { capability: resume, input: byId, done: 'Schedule resumed.' },
  },
};

function actions(visit: Visit, { status }: Job): Html {
  const runs = visit.may(cronRun) && status !== 'completed' ? actButton(visit, 'run', 'Run now') : '';
  const changes =
    status === 'active' && visit.may(pause)
      ? actButton(visit, 'pause', 'Pause')
      : status === 'paused' && visit.may(resume)
        ? actButton(visit, 'resume', 'Resume')
        : '';
  return html`${changes}${runs}`;
}

async function show(visit: Visit, job: Job) {
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(cronRuns, { job_id: job.job_id, cursor, limit: ROWS });
  const isRunning = list.data?.items.some(({ finished_at }) => finished_at === null) === true;
  const content = html`<div class="panels">${nextRuns(visit, job)}${request(job)}</div>
${panel(visit, 'Runs', list, (page) => html`${runs(visit, page)}${more(visit, page)}`)}`;
  return { content, againSeconds: isRunning ? RUN_SECONDS : undefined };
}

function nextRuns(visit: Visit, job: Job): Html {
  const none = job.status === 'paused' ? 'None while it is paused.' : 'None: it has run for the last time.';
  const each = (at: string) => html`<li>${ago(visit, at)} · ${nextRun(visit, at, job.timezone)}</li>`;
  return html`<section class="panel"><h2>Next runs</h2>${job.next_runs.length === 0 ? html`<p class="quiet">${none}</p>` : html`<ol class="plain">${job.next_runs.map(each)}</ol>`}</section>`;
}

function request(job: Job): Html {
  const headers = Object.entries(job.headers).map(([name, value]) => html`<div>${short(`${name}: ${value}`)}</div>`);
  const isNothing = job.payload === undefined || job.payload === null;
  const isUrl = job.task_url !== null;
  return html`<section class="panel"><h2>Request</h2>${facts([
    [isUrl ? 'URL' : 'Target', html`${isUrl ? 'POST ' : ''}${targetText(job, 200)}`],
    ['Runs as', job.target.key_id === undefined ? null : copiedId(job.target.key_id)],
    ['Timeout', countOf(job.timeout_seconds, 'second')],
    ['Retries', job.retries === 0 ? null : count(job.retries)],
    ['Headers', headers.length === 0 ? null : html`${headers}`],
    ['Signing secret', isUrl ? html`ends in <code>${job.secret_last4}</code>` : null],
    ['Payload', isNothing ? 'none' : null],
  ])}${isNothing ? '' : html`<details id="payload" open><summary>Payload</summary>${payload(job.payload, 'Payload', { call: 'cron.get' })}</details>`}</section>`;
}

function runs(visit: Visit, { items }: Page<Run>): Html {
  return table<Run>({
    caption: 'Runs',
    rows: items,
    empty: html`<p>No runs yet. “Run now” tries it at once.</p>`,
    columns: [
      { title: 'Due', cell: (run) => html`${time(visit, run.scheduled_at)}` },
      { title: 'Status', cell: runState },
      { title: 'Trigger', cell: ({ trigger }) => (trigger === 'manual' ? 'run now' : 'schedule') },
      { title: 'Answer', cell: answerOf },
      { title: 'Cost', usd: ({ cost_usd: usd }) => usd },
    ],
  });
}

/** What came back, with the beginning of its text. */
function answerOf(run: Run): Html | string {
  const { run_id: id, response_snippet: snippet } = run;
  const told = answerText(run) ?? 'none yet';
  if (snippet === null || snippet === '') return told;
  return html`<details id="run-${id}"><summary>${told}</summary>${payload(snippet, 'Beginning of the answer', { call: 'cron.runs' })}</details>`;
}
