// What can be changed of a schedule, and its end.

import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { actForm, textOf } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import type { Page } from '../../../kit/console/table.ts';
import { countOf, short } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { remove } from '../capabilities/delete.ts';
import { get } from '../capabilities/get.ts';
import { runs as cronRuns } from '../capabilities/runs.ts';
import { update } from '../capabilities/update.ts';
import { head, nameOf } from './one.ts';
import { jobFields, jobPath, nextRun, type Run } from './schedule.ts';

/** The page of its end counts no more runs than one call answers. */
const COUNTED_MAX = 100;
const idOf = ({ params: { id = '' } }: Visit) => id;

export const scheduleSettingsPage: ConsolePage = {
  name: 'schedule_settings',
  path: '/schedules/{id}/settings',
  needs: get,
  show: showSettings,
  acts: {
    update: {
      capability: update,
      input: (form, visit) => ({
        id: idOf(visit),
        name: textOf(form, 'name') ?? null,
        task: textOf(form, 'task'),
        // What was cleared is taken away.
        cron_expr: textOf(form, 'cron_expr') ?? null,
        run_at: textOf(form, 'run_at') ?? null,
        timezone: textOf(form, 'timezone'),
      }),
      done: 'Settings saved.',
    },
  },
};

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
      done: 'Schedule deleted.',
      next: () => '/schedules',
    },
  },
};

async function showSettings(visit: Visit): Promise<View> {
  const job = await visit.need(get, { id: idOf(visit) });
  const form = () =>
    actForm(visit, 'update', html`${jobFields(visit, 'update', job)}<button class="main">Save</button>`);
  const content = html`${head(visit, job, '/settings')}
${visit.may(update) && job.status !== 'completed' ? form() : html`<p class="quiet">${job.status === 'completed' ? 'A completed schedule cannot be changed.' : 'You may not change it.'}</p>`}
${dangerZone([
  visit.may(remove)
    ? {
        title: 'Delete this schedule',
        text: 'It does not run any more. The record of its runs is deleted with it.',
        act: dangerLink(visit.path(`${jobPath(job.id)}/delete`), 'Delete…'),
      }
    : null,
])}`;
  return { title: `Settings of ${nameOf(job)}`, content };
}

async function showDelete(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const [job, kept] = await Promise.all([visit.need(get, { id }), visit.need(cronRuns, { id, limit: COUNTED_MAX })]);
  const content = html`<p><a href="${visit.path(`${jobPath(id)}/settings`)}">${short(nameOf(job), 100)}</a></p>
<h1>Delete the schedule</h1>
<p>It does not run any more. Its next run would be ${nextRun(visit, job.next_run_at, job.timezone)}.</p>
<p>${ofLastDay(visit, kept)}</p>
${typedForm(visit, 'delete', { wanted: id, button: 'Delete' })}`;
  return { title: 'Delete a schedule', content };
}

/** How often it ran is how often it will be missed. */
function ofLastDay({ nowMs }: Visit, { items, next_cursor: next }: Page<Run>): string {
  const day = items.filter(({ scheduled_at: at }) => Date.parse(at) > nowMs - DAY_MS);
  const runCount = (runs: number) =>
    runs === items.length && next !== null ? `${runs} runs or more` : countOf(runs, 'run');
  return `It had ${runCount(day.length)} in the last 24 hours. The record of ${runCount(items.length)} in 30 days is deleted with it.`;
}
