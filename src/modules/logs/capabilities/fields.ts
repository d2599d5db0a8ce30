import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { countsOf, countsSchema } from '../schemas.ts';
import { fieldsOf } from '../search/fields.ts';
import { periodFields, questionOf } from '../search/question.ts';
import type { LogsState } from '../state.ts';

const ENTRIES_MAX = 200;

const countList = (what: string) =>
  Type.Array(
    Type.Object({
      name: Type.String({ description: 'Its name.' }),
      records: Type.Integer({ description: 'Records that have it.' }),
    }),
    { description: `${what}, the most frequent first; at most ${ENTRIES_MAX}.` },
  );

export const fields = defineCapability<LogsState>()({
  method: 'GET',
  path: '/v1/logs/fields',
  summary: 'Lists services, levels and attributes of log records.',
  description:
    'What the records of a time can be filtered by: their services, levels and names of attributes, with how many records have each.',
  keywords: ['which services log', 'log attributes', 'fields of logs', 'log schema'],
  input: Type.Object(periodFields),
  output: Type.Object({
    levels: countsSchema,
    services: countList('Services'),
    attributes: countList('Attributes'),
    is_complete: Type.Boolean({ description: 'False: there are more services or attributes than are listed.' }),
  }),
  limits: { period: 'All that is kept when from is absent.' },
  examples: [
    {
      title: 'What there is',
      before: [
        {
          capability: 'logs.ingest',
          input: { items: [{ service: 'checkout', message: 'm', attributes: { n: 1 } }] },
        },
      ],
      input: {},
      expect: { services: [{ name: 'checkout', records: 1 }], attributes: [{ name: 'n', records: 1 }] },
    },
  ],
  async run({ ctx, input, state }) {
    const { core, accountId, signal } = ctx;
    const question = questionOf(input, await clockNow(core.db));
    const fromMs = Math.max(question.fromMs, await state.store.firstKeptMs(accountId));
    const found = await fieldsOf(state, accountId, { ...question, fromMs }, signal);
    return {
      data: {
        levels: countsOf(found.levels),
        services: topEntries(found.services),
        attributes: topEntries(found.names),
        is_complete: found.isComplete && found.services.size <= ENTRIES_MAX && found.names.size <= ENTRIES_MAX,
      },
    };
  },
});

function topEntries(counts: ReadonlyMap<string, number>) {
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return sorted.slice(0, ENTRIES_MAX).map(([name, records]) => ({ name, records }));
}
