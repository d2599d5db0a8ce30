// Dashboards: panels under a name, each a query of PromQL that the console draws.
import Type from 'typebox';
import { admission } from '../../../core/admission.ts';
import { plainText, plainTextOrNull, whole } from '../../../kit/fields.ts';
import { savedOf } from '../../../kit/saved.ts';
import { TITLE_CHARACTERS_MAX, UNIT_CHARACTERS_MAX } from '../limits.ts';

const { panelsMax, queryCharactersMax } = admission.call.saved;
export const PANELS_MAX = panelsMax;

const panelSchema = Type.Object({
  title: plainText(TITLE_CHARACTERS_MAX, 'What stands above it.'),
  query: Type.String({
    minLength: 1,
    maxLength: queryCharactersMax,
    description: 'PromQL. One that is wrong is told when the panel is drawn.',
  }),
  unit: Type.Optional(plainTextOrNull(UNIT_CHARACTERS_MAX, 'Of its values, such as `ms`; null: none.')),
});

export const dashboards = savedOf({
  module: 'metrics',
  noun: 'dashboard',
  key: 'dashboard_id',
  prefix: 'dash_',
  table: 'metrics.dashboard',
  fields: {
    panels: Type.Array(panelSchema, { maxItems: panelsMax, description: `In their order; at most ${panelsMax}.` }),
  },
  listed: { panel_count: whole('How many panels it has.') },
  summaryOf: ({ panels }) => ({ panel_count: panels.length }),
  limit: { standard: 50, pro: 500, enterprise: 5_000 },
  words: {
    what: 'A dashboard has panels, each a query of PromQL that is drawn over time.',
    create: ['dashboard', 'save a graph', 'grafana dashboard', 'panels of metrics'],
    list: ['list dashboards', 'which dashboards are there'],
  },
  example: { name: 'Shop', panels: [{ title: 'Jobs that wait', query: 'sum by (queue) (jobs_waiting)' }] },
  changed: { name: 'Shop, all queues' },
});
