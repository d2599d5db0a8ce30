// One schedule: when it runs next, what it sends, and what its runs came to; run it now, pause it, resume it.

import { answerText } from '../../../kit/console/answer.ts';
import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actButton } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, more, type Page, pageTabs, table } from '../../../kit/console/table.ts';
import { ago, payload, short, time } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { get } from '../capabilities/get.ts';
import { pause } from '../capabilities/pause.ts';
import { resume } from '../capabilities/resume.ts';
import { run as cronRun } from '../capabilities/run.ts';
import { runs as cronRuns } from '../capabilities/runs.ts';
import { type Job, jobPath, nextRun, type Run, runState, scheduleText, stateOf } from './schedule.ts';

const ROWS = 25;
/** While a run goes on. */
const RUN_SECONDS = 2;
const byId = (_: unknown, { params: { id } }: Visit) => ({ id });

export const schedulePage: ConsolePage = {
  name: 'schedule',
  path: '/schedules/{id}',
  needs: get,
  isLive: true,
  show,
  acts: {
    run: { capability: cronRun, input: byId, done: 'Run started.' },
    pause: { capability: pause, input: byId, done: 'Schedule paused.' },
    resume: { capability: resume, input: byId, done: 'Schedule resumed.' },
  },
};

async function show(visit: Visit): Promise<View> {
  const { id = '' } = visit.params;
  const cursor = visit.query.get('cursor') ?? undefined;
  const [job, list] = await Promise.all([visit.need(get, { id }), visit.call(cronRuns, { id, cursor, limit: ROWS })]);
  const isRunning = list.data?.items.some(({ status }) => status === 'running') === true;
  const content = html`${head(visit, job, '')}
<div class="panels">${nextRuns(visit, job)}${request(job)}</div>
${panel(visit, 'Runs', list, (page) => html`${runs(visit, page)}${more(visit, page)}`)}`;
  return { title: nameOf(job), content, ...(isRunning ? { againSeconds: RUN_SECONDS } : {}) };
}

export function nameOf({ id, name }: Pick<Job, 'id' | 'name'>): string {
  return name ?? id;
}

/** What the pages of a schedule show above all else. */
export function head(visit: Visit, job: Job, here: '' | '/settings'): Html {
  const { id, status } = job;
  const at = visit.path(jobPath(id));
  const tab = (text: string, below: string) => ({ text, href: `${at}${below}`, isHere: below === here });
  const runs = visit.may(cronRun) && status !== 'completed' ? actButton(visit, 'run', 'Run now') : '';
  const changes =
    status === 'active' && visit.may(pause)
      ? actButton(visit, 'pause', 'Pause')
      : status === 'paused' && visit.may(resume)
        ? actButton(visit, 'resume', 'Resume')
        : '';
  return html`<p><a href="${visit.path('/schedules')}">Schedules</a></p>
<div class="head"><div class="head named"><h1>${short(nameOf(job), 120)}</h1><p>${stateOf(job)}</p></div>${here === '' ? html`<div class="actions">${changes}${runs}</div>` : ''}</div>
<p class="quiet">${scheduleText(job)}${job.cron_expr === null ? '' : html` in ${job.timezone}`} · created ${ago(visit, job.created_at)} · ${copiedId(id)}</p>
${pageTabs('Pages of the schedule', [tab('Runs', ''), tab('Settings', '/settings')])}`;
}

function nextRuns(visit: Visit, job: Job): Html {
  const none = job.status === 'paused' ? 'None while it is paused.' : 'None: it has run for the last time.';
  const each = (at: string) => html`<li>${ago(visit, at)} · ${nextRun(visit, at, job.timezone)}</li>`;
  return html`<section class="panel"><h2>Next runs</h2>${job.next_runs.length === 0 ? html`<p class="quiet">${none}</p>` : html`<ol class="plain">${job.next_runs.map(each)}</ol>`}</section>`;
}

function request(job: Job): Html {
  const headers = Object.entries(job.headers).map(([name, value]) => html`<div>${short(`${name}: ${value}`)}</div>`);
  const isNothing = job.payload === undefined || job.payload === null;
  return html`<section class="panel"><h2>Request</h2>${facts([
    ['URL', html`POST ${short(job.task_url, 200)}`],
    ['Headers', headers.length === 0 ? null : html`${headers}`],
    ['Signing secret', html`ends in <code>${job.secret_last4}</code>`],
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
