// The pages of a schedule: its runs, what can be changed of it, and its end.

import { copiedId } from '../../../kit/console/copied.ts';
import { textOf } from '../../../kit/console/form.ts';
import { instantOf } from '../../../kit/console/instant-field.ts';
import { resourcePages, settingsPage } from '../../../kit/console/resource-pages.ts';
import { ago, countOf } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { remove } from '../capabilities/delete.ts';
import { get } from '../capabilities/get.ts';
import { runs as cronRuns } from '../capabilities/runs.ts';
import { update } from '../capabilities/update.ts';
import { runsPage } from './runs.ts';
import { type Job, jobFields, nextRun, scheduleText, stateOf, withTarget } from './schedule.ts';

/** The page of its end counts no more runs than one call answers. */
const COUNTED_MAX = 100;

const settings = settingsPage<Job>({
  capability: update,
  fields: jobFields,
  fixed: ({ status }) => (status === 'completed' ? 'A completed schedule cannot be changed.' : null),
  input: (form, visit) =>
    withTarget(
      {
        job_id: visit.params.id,
        name: textOf(form, 'name') ?? null,
        // What was cleared is taken away.
        cron_expr: textOf(form, 'cron_expr') ?? null,
        run_at: instantOf(form, 'run_at', visit) ?? null,
        timezone: textOf(form, 'timezone'),
      },
      form,
    ),
  done: 'Settings saved.',
});

export const schedulePages = resourcePages<Job>({
  name: 'schedule',
  noun: 'schedule',
  path: '/schedules/{id}',
  list: { title: 'Schedules', path: '/schedules' },
  needs: get,
  read: (visit) => visit.need(get, { job_id: visit.params.id }),
  nameOf: ({ job_id: id, name }) => name ?? id,
  badge: (_, job) => stateOf(job),
  about,
  pages: [runsPage, settings],
  deletion: {
    capability: remove,
    title: 'Delete a schedule',
    warning: () => 'It does not run any more. The record of its runs is deleted with it.',
    async effect(visit, job) {
      const next = nextRun(visit, job.next_run_at, job.timezone);
      return [html`It does not run any more. Its next run would be ${next}.`, await ofLastDay(visit, job)];
    },
  },
});

function about(visit: Visit, job: Job): Html {
  const zone = job.cron_expr === null ? '' : html` in ${job.timezone}`;
  return html`<p class="quiet">${scheduleText(job)}${zone} · created ${ago(visit, job.created_at)} · ${copiedId(job.job_id)}</p>`;
}

/** How often it ran is how often it will be missed. */
async function ofLastDay(visit: Visit, { job_id: id }: Job): Promise<string> {
  const { items, next_cursor: next } = await visit.need(cronRuns, { job_id: id, limit: COUNTED_MAX });
  const day = items.filter(({ scheduled_at: at }) => Date.parse(at) > visit.nowMs - DAY_MS);
  const runCount = (runs: number) =>
    runs === items.length && next !== null ? `${runs} runs or more` : countOf(runs, 'run');
  return `It had ${runCount(day.length)} in the last 24 hours. The record of ${runCount(items.length)} in 30 days is deleted with it.`;
}
