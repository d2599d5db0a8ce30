// The cron module: signed POSTs to a URL on a schedule or once.

import { findsNothing } from '../../core/accounts/finds-nothing.ts';
import { statement } from '../../db/statement.ts';
import { defineModule } from '../../kit/module.ts';
import { create } from './capabilities/create.ts';
import { remove } from './capabilities/delete.ts';
import { get } from './capabilities/get.ts';
import { list } from './capabilities/list.ts';
import { pause } from './capabilities/pause.ts';
import { resume } from './capabilities/resume.ts';
import { runs } from './capabilities/runs.ts';
import { update } from './capabilities/update.ts';
import { cronEvents } from './events.ts';
import { jobCount } from './jobs/store.ts';
import { cronLimits, RUN_PRICE } from './limits.ts';
import { type CronState, createCronState } from './state.ts';
import { cronSweeps } from './sweeps.ts';

export const cron = defineModule<CronState>({
  name: 'cron',
  summary: 'Scheduled jobs: a signed POST to your URL, recurring or once, with a record of every run.',
  status: 'ga',
  shownBy: ['cron.create', 'cron.update'],
  capabilities: [create, list, get, runs, update, pause, resume, remove],
  events: cronEvents,
  prices: { [RUN_PRICE]: { unit: 'run', nanosPerUnit: 20_000n } },
  limits: { cron_jobs: { ...cronLimits.cron_jobs, used: jobCount } },
  start: createCronState,
  isEmpty: findsNothing(statement('cron_find_any', 'SELECT 1 AS found FROM cron.job WHERE account_id = $1 LIMIT 1')),
  sweeps: ({ core }) => cronSweeps(core.db),
  jobs: ({ runner }) => [runner],
});
