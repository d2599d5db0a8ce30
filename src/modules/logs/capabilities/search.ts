import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { decodeCursor, encodeCursor, LIMIT_DEFAULT } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageFields } from '../../../kit/fields.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { recordSchema } from '../schemas.ts';
import { findPage } from '../search/find.ts';
import { filterFields, questionOf } from '../search/question.ts';
import type { Position } from '../search/scan.ts';
import type { LogsState } from '../state.ts';

const ORDERS = ['newest', 'oldest'] as const;

export const search = defineCapability<LogsState>()({
  method: 'GET',
  path: '/v1/logs/search',
  summary: 'Searches log records.',
  description:
    'Records that match all filters, newest first. q is plain text and never fails: words are runs of letters, digits and underscores; everything else separates them. ' +
    'level takes this level and those above; filter.NAME is an exact value of an attribute of the record or of its resource. A page that took 5 s may be short, or empty, and still have a next one. ' +
    'GET /v1/logs/tail takes the same filters and streams new records as Server-Sent Events.',
  keywords: ['find log lines', 'grep logs', 'query logs', 'errors of a service', 'logs of a trace', 'tail logs'],
  input: Type.Object({
    ...filterFields,
    order: Type.Optional(Type.Enum([...ORDERS], { description: 'Which record comes first; newest when absent.' })),
    cursor: cursorField,
    limit: limitField,
  }),
  output: Type.Object({ items: Type.Array(recordSchema, { description: 'This page.' }), ...pageFields }),
  errors: ['INVALID_CURSOR'],
  opaque: ['filter', 'attributes'],
  limits: {
    words: 'The first 300 distinct words of a record are searched, and 200 parts of them, up to 64 characters each.',
    page: 'Ends after 1 MiB of records, and after 5 s.',
  },
  examples: [
    {
      title: 'Errors of a service with two words',
      before: [
        {
          capability: 'logs.ingest',
          input: { items: [{ level: 'error', service: 'checkout', message: 'Payment provider timed out' }] },
        },
      ],
      input: { q: 'payment timed', service: 'checkout', level: 'error' },
      expect: { has_more: false },
    },
  ],
  async run({ ctx, input, state }) {
    const { core, accountId, capability, signal } = ctx;
    const { cursor, limit = LIMIT_DEFAULT, order = 'newest', ...filters } = input;
    const binding = [accountId, capability, JSON.stringify([order, filters])];
    const after = cursor === undefined ? null : positionOf(decodeCursor(core.secrets, binding, cursor));
    const question = questionOf(filters, await clockNow(core.db));
    const args = { question, after, isNewestFirst: order === 'newest', limit };
    const { records, next } = await findPage(state, accountId, args, signal);
    const items = records.map(({ json }) => json).join(',');
    ctx.holdAnswer(items.length * 2);
    const nextCursor = next === null ? null : encodeCursor(core.secrets, binding, [next.timeMs, String(next.number)]);
    const text = `{"items":[${items}],"next_cursor":${JSON.stringify(nextCursor)},"has_more":${next !== null}}`;
    return { data: new JsonText(text) };
  },
});

function positionOf([timeMs, number]: readonly (string | number)[]): Position {
  return { timeMs: Number(timeMs), number: BigInt(number as string) };
}
