import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField } from '../../../kit/fields.ts';
import { eventPageSchema } from '../schemas.ts';
import { eventPage } from '../search/event-record.ts';
import { filterField } from '../search/filter.ts';
import type { ErrorsState } from '../state.ts';

export const search = defineCapability<ErrorsState>()({
  method: 'GET',
  path: '/v1/errors/search',
  summary: 'Searches error events.',
  description:
    'Events that hold all words of q in title, message, exception type or value, or in the path of the file that threw, newest first. ' +
    'q is plain text: words are runs of letters, digits and underscores in any case; everything else separates them. A word matches whole ' +
    '(`card_declined`) or as a part (`declined`; `payment` in `PaymentDeclined`). The last word also matches as a beginning.',
  keywords: ['find exceptions by text', 'search error events', 'query errors'],
  input: Type.Object({
    q: Type.String({ minLength: 1, maxLength: 1_000, description: 'The words to look for.' }),
    filter: filterField,
    cursor: cursorField,
    limit: limitField,
  }),
  output: eventPageSchema,
  errors: ['INVALID_CURSOR', 'UNSUPPORTED_FILTER'],
  limits: {
    words: 'The first 300 distinct words of an event are searched, and 200 parts of them, up to 64 characters each.',
  },
  examples: [
    {
      title: 'Two words',
      before: [{ capability: 'errors.capture', input: { message: 'Payment provider timed out' } }],
      input: { q: 'payment timed' },
      expect: { total: 1 },
    },
  ],
  async run({ ctx, input, state }) {
    return { data: await eventPage(ctx, state, input, input.q) };
  },
});
