import { listOf } from '../../../kit/resource.ts';
import { type FlagSummary, showSummary } from '../flags/definition.ts';
import { flagTable } from '../flags/store.ts';
import { summarySchema } from '../schemas.ts';

export const list = listOf(
  { ...flagTable, noun: 'flag', output: summarySchema, show: (row: FlagSummary) => showSummary(row) },
  {
    path: '/v1/flags/list',
    description:
      'Flags by key, page by page, without variants and rules: flags.get shows those of one, flags.export all.',
    keywords: ['list feature flags', 'all toggles'],
    examples: [{ title: 'The first ones', input: { limit: 10 }, expect: { has_more: false } }],
  },
);
