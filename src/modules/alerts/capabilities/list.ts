import Type from 'typebox';
import { listOf } from '../../../kit/resource.ts';
import { alertRecord, type ShownRule } from '../rules/record.ts';
import { withSilences } from '../rules/resource.ts';
import { rulesOfState } from '../rules/store.ts';
import { alertSchema, type State, states } from '../schemas.ts';
import { ruleFirst } from './examples.ts';

export const alertList = listOf(
  {
    noun: 'alert',
    output: alertSchema,
    show: (shown: ShownRule) => alertRecord(shown),
    list: async (db, { accountId }, { after, limit, filters = {} }) => {
      const state = (filters.state ?? null) as State | null;
      return withSilences(db, accountId, await rulesOfState(db, accountId, { state, after: after ?? '', limit }));
    },
    positionOf: ({ row }) => row.rule,
  },
  {
    path: '/v1/alerts/list',
    summary: 'Lists alerts: rules that fire, or may soon.',
    description: 'Rules that are pending, firing or unknown, by name; with state those of that state, ok among them.',
    keywords: ['active alerts', 'what is firing', 'current incidents', 'what is broken now'],
    filters: { state: Type.Optional(Type.Enum([...states], { description: 'Only rules in this state.' })) },
    examples: [
      { title: 'What fires', input: { state: 'firing' }, expect: { items: [], has_more: false } },
      { title: 'What is well', before: [ruleFirst], input: { state: 'ok' }, expect: { has_more: false } },
    ],
  },
);
