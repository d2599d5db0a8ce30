// The alerts module: rules that are looked at again and again, and whom they tell.
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { exportRules } from './capabilities/export.ts';
import { history } from './capabilities/history.ts';
import { importRules } from './capabilities/import.ts';
import { alertList } from './capabilities/list.ts';
import { remove } from './capabilities/rule/delete.ts';
import { get } from './capabilities/rule/get.ts';
import { list } from './capabilities/rule/list.ts';
import { setRule } from './capabilities/rule/set.ts';
import { tryRule } from './capabilities/rule/try.ts';
import { silence } from './capabilities/silence.ts';
import { alertsProblems } from './problems.ts';
import { rulesLimits } from './rules/store.ts';
import { type AlertsState, startAlerts } from './state.ts';
import { alertsSweeps } from './sweeps.ts';

export const alerts = defineModule<AlertsState>({
  name: 'alerts',
  summary:
    'Alerts on metrics, logs, errors, spending, queues, webhooks and schedules, by mail, signed POST, queue and Slack.',
  status: 'beta',
  shownBy: ['alerts.rule.set', 'alerts.list'],
  capabilities: [list, get, remove, alertList, history, silence, importRules, exportRules],
  derived: (offer) => [setRule(offer), tryRule(offer)],
  finders: [
    finder('alert rule', list, ({ rule: id }) => ({ id, name: id, path: `/alerts/${encodeURIComponent(id)}` })),
  ],
  console: async () => (await import('./console/index.ts')).alertsConsole,
  limits: rulesLimits,
  problems: alertsProblems,
  start: startAlerts,
  isEmpty: noRowIn('alerts.rule'),
  sweeps: ({ core }) => alertsSweeps(core.db),
  jobs: ({ loops }) => loops,
});
