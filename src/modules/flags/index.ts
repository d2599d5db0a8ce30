// The flags module: feature flags with flagd's rules, evaluated in memory, and OFREP for OpenFeature SDKs.
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { EVALUATE, evaluate } from './capabilities/evaluate.ts';
import { exportFlags, importFlags } from './capabilities/flagd-file.ts';
import { create, get, history, list, remove, update } from './capabilities/flags.ts';
import { flagLimits, flagTable } from './flags/store.ts';
import { ofrepRoutes } from './ofrep.ts';
import { flagProblems } from './problems.ts';
import { type FlagsState, startFlags } from './serving/served-flags.ts';

export const flags = defineModule<FlagsState>({
  name: 'flags',
  summary: 'Feature flags: rules and percentages of flagd, evaluated in memory, for every OpenFeature SDK.',
  status: 'ga',
  shownBy: ['flags.create', EVALUATE],
  capabilities: [create, get, list, update, remove, evaluate, history, exportFlags, importFlags],
  clients: [
    {
      client: 'OpenFeature SDKs',
      address: '{base_url}/v1/flags',
      use: 'evaluations, and changes as they happen',
      serves: [EVALUATE],
    },
  ],
  limits: flagLimits,
  problems: flagProblems,
  finders: [finder('flag', list, ({ key }) => ({ id: key, name: key, path: `/flags/${encodeURIComponent(key)}` }))],
  console: async () => (await import('./console/index.ts')).flagsConsole,
  rawRoutes: ofrepRoutes,
  start: startFlags,
  close: ({ served }) => served.close(),
  isEmpty: flagTable.isEmpty,
});
