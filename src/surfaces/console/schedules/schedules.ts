// The schedules of the account: what runs when, what its last run came to, and a new one. The secret of a new one is shown once.
import { type Html, html } from '../../../lib/html.ts';
import type { ConsolePage, View } from '../page.ts';
import { panel } from '../parts/failure.ts';
import { actForm, field, textOf } from '../parts/form.ts';
import { more, type Page, table, tabs, teach, withQuery } from '../parts/table.ts';
import { ago, short } from '../parts/text.ts';
import type { Visit } from '../visit.ts';
import { type Job, jobFields, jobPath, nextRun, runState, scheduleText, stateOf } from './schedule.ts';

const ROWS = 25;
const CREATE = 'create';
const STATUSES = ['active', 'paused', 'completed'] as const;

export const schedulesPage: ConsolePage = {
  name: 'schedules',
  path: '/schedules',
  needs: 'cron.list',
  nav: { label: 'Schedules', key: 's' },
  isLive: true,
  show,
  acts: {
    [CREATE]: {
      capability: 'cron.create',
      input: (form) => ({
        ...{ task: textOf(form, 'task'), name: textOf(form, 'name'), timezone: textOf(form, 'timezone') },
        ...{ cron_expr: textOf(form, 'cron_expr'), run_at: textOf(form, 'run_at') },
      }),
      done: 'The schedule was made.',
      shown: (data, visit) => secretPage(data as Job & { readonly secret: string }, visit),
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const status = visit.query.get('status') || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call<Page<Job>>('cron.list', { status, cursor, limit: ROWS });
  const content = html`<h1>Schedules</h1>
<p>Each run is a signed POST to an address of yours.</p>
${panel(visit, 'All schedules', list, (page) => html`${statusTabs(visit, status)}${jobs(visit, page)}${more(visit, page)}`)}
${visit.may('cron.create') ? html`<section class="panel"><h2>New schedule</h2>${createForm(visit)}</section>` : ''}`;
  return { title: 'Schedules', content };
}

function statusTabs(visit: Visit, here: string | undefined): Html {
  const entries = [undefined, ...STATUSES].map((status) => ({
    text: status ?? 'all',
    href: withQuery(visit, { status: status ?? null, cursor: null }),
    isHere: status === here,
  }));
  return tabs('State of schedules', entries);
}

function jobs(visit: Visit, { items }: Page<Job>): Html {
  return table({
    caption: 'Schedules',
    rows: items,
    empty: teach('There is none. Make one here or by a call:', firstCall(visit)),
    columns: [
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
  });
}

function lastRun(visit: Visit, { last_run: run }: Job): Html {
  return run === null ? html`<span class="quiet">none</span>` : html`${runState(run)} ${ago(visit, run.started_at)}`;
}

function createForm(visit: Visit): Html {
  return actForm(
    visit,
    CREATE,
    html`${field(visit, CREATE, { name: 'task', label: 'Address', isRequired: true, attributes: html`inputmode="url" spellcheck="false" placeholder="https://example.org/tasks/report"` })}
${jobFields(visit, CREATE)}
<button class="main">Make the schedule</button> <span class="quiet">a run costs what cron.run costs; a payload and headers go by the call</span>`,
  );
}

function secretPage({ id, name, secret }: Job & { readonly secret: string }, visit: Visit): View {
  const content = html`<h1>The signing secret of ${short(name ?? id, 60)}</h1>
<p>Copy it now: it is shown this once. Each run is signed with it.</p>
<pre class="secret" tabindex="0" aria-label="Secret">${secret}</pre>
<p><a href="${visit.path(jobPath(id))}">The schedule</a></p>`;
  return { title: 'A signing secret', content };
}

function firstCall({ baseUrl }: Visit): string {
  const body = JSON.stringify({ task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' });
  return `curl -sS ${baseUrl}/v1/cron/create -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
