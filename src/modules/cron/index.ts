// The cron module: signed POSTs to a URL on a schedule or once.

import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { cronSource } from './alert-source.ts';
import { create } from './capabilities/create.ts';
import { remove } from './capabilities/delete.ts';
import { get } from './capabilities/get.ts';
import { list } from './capabilities/list.ts';
import { pause } from './capabilities/pause.ts';
import { resume } from './capabilities/resume.ts';
import { run } from './capabilities/run.ts';
import { runs } from './capabilities/runs.ts';
import { update } from './capabilities/update.ts';
import { cronEvents } from './events.ts';
import { cronLimits, jobTable } from './jobs/store.ts';
import { RUN_PRICE } from './limits.ts';
import { type CronState, createCronState } from './state.ts';
import { cronSweeps } from './sweeps.ts';

export const cron = defineModule<CronState>({
  name: 'cron',
  summary: 'Scheduled jobs: a URL, a queue or a capability called again and again or once, with a record of every run.',
  status: 'ga',
  shownBy: ['cron.create', 'cron.update'],
  capabilities: [create, list, get, runs, update, pause, resume, run, remove],
  finders: [finder('schedule', list, ({ job_id: id, name }) => ({ id, name: name ?? id, path: `/schedules/${id}` }))],
  alertSources: [cronSource],
  console: async () => (await import('./console/index.ts')).cronConsole,
  events: cronEvents,
  prices: { [RUN_PRICE]: { unit: 'run', nanosPerUnit: 20_000n } },
  limits: cronLimits,
  start: createCronState,
  isEmpty: jobTable.isEmpty,
  sweeps: ({ core }) => cronSweeps(core.db),
  jobs: ({ runners }) => runners,
});
