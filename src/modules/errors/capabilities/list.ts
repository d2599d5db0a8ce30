import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField } from '../../../kit/fields.ts';
import { eventPageSchema } from '../schemas.ts';
import { eventPage } from '../search/event-record.ts';
import { filterField } from '../search/filter.ts';
import type { ErrorsState } from '../state.ts';

export const list = defineCapability<ErrorsState>()({
  method: 'GET',
  path: '/v1/errors/list',
  summary: 'Lists error events.',
  description:
    'Events of all groups, newest first, optionally filtered: filter[environment]=production&filter[tags.region]=eu, or filter as JSON. ' +
    'Ask errors.groups for the groups instead.',
  keywords: ['recent exceptions', 'error log'],
  input: Type.Object({ filter: filterField, cursor: cursorField, limit: limitField }),
  output: eventPageSchema,
  errors: ['INVALID_CURSOR', 'UNSUPPORTED_FILTER'],
  examples: [
    { title: 'The newest events', input: { limit: 10 }, expect: { total: 0 } },
    {
      title: 'Fatal ones of a release',
      before: [{ capability: 'errors.capture', input: { message: 'disk full', level: 'fatal', release: '1.4.2' } }],
      input: { filter: { level: 'fatal', release: '1.4.2' } },
      expect: { total: 1 },
    },
  ],
  async run({ ctx, input, state }) {
    return { data: await eventPage(ctx, state, input, null) };
  },
});
