import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instantOrNull } from '../../../kit/fields.ts';
import { isoOrNull } from '../../../lib/time.ts';
import { deleteEverything, findPerson, idsOf } from '../people/person-store.ts';
import { problem } from '../problems.ts';
import type { AnalyticsState } from '../state.ts';
import { distinctIdField } from './questions.ts';

const distinctId = { ...distinctIdField, pattern: '^[^\\p{Cc}\\p{Cs}]*$' };

export const person = defineCapability<AnalyticsState>()({
  method: 'GET',
  path: '/v1/analytics/person/{distinct_id}',
  summary: 'Shows a person.',
  description: 'All distinct IDs that are the same person now, and the properties that $set and $set_once gave them.',
  keywords: ['user profile', 'who is this user', 'person properties'],
  input: Type.Object({ distinct_id: distinctId }),
  output: Type.Object({
    distinct_ids: Type.Array(Type.String(), { description: 'In the order in which they were first seen.' }),
    is_identified: Type.Boolean({ description: 'Whether an $identify named the person.' }),
    properties: Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      description: 'What the person is like.',
    }),
    created_at: instantOrNull('First event that described or joined the person; null: none did.'),
    updated_at: instantOrNull('Last such event; null: none.'),
  }),
  errors: ['PERSON_NOT_FOUND'],
  examples: [
    {
      title: 'A visitor who became a user',
      before: [
        {
          capability: 'analytics.capture',
          input: {
            event: '$identify',
            distinct_id: 'p1',
            properties: { $anon_distinct_id: 'p1-browser', $set: { plan: 'pro' } },
          },
        },
      ],
      input: { distinct_id: 'p1-browser' },
      expect: { is_identified: true, properties: { plan: 'pro' } },
    },
  ],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const found = await findPerson(db, ctx.accountId, input.distinct_id);
    if (found === null) throw problem('PERSON_NOT_FOUND', { param: 'distinct_id' });
    const ids = await idsOf(db, ctx.accountId, found.person);
    return {
      data: {
        distinct_ids: ids.map(({ distinct_id: id }) => id),
        is_identified: found.is_identified === true,
        properties: JSON.parse(found.properties) as object,
        created_at: isoOrNull(found.created_ms === null ? null : Number(found.created_ms)),
        updated_at: isoOrNull(found.updated_ms === null ? null : Number(found.updated_ms)),
      },
    };
  },
});

export const deletePerson = defineCapability<AnalyticsState>()({
  method: 'DELETE',
  path: '/v1/analytics/person/delete/{distinct_id}',
  summary: 'Deletes a person with all their events.',
  description:
    'From now on no query counts an event of any of the distinct IDs; soon after, the events are removed from storage. An event that comes later with one of these IDs is of a new person.',
  keywords: ['forget a user', 'erase a user from analytics'],
  input: Type.Object({ distinct_id: distinctId }),
  output: Type.Object({
    distinct_ids: Type.Integer({ description: 'Distinct IDs that the person had; 0: there was nobody.' }),
  }),
  examples: [
    {
      title: 'A person',
      before: [{ capability: 'analytics.capture', input: { event: 'signed_up', distinct_id: 'd1' } }],
      input: { distinct_id: 'd1' },
      expect: { distinct_ids: 1 },
    },
  ],
  async run({ ctx, input }) {
    return runWrite(ctx, async (tx) => {
      const found = await findPerson(tx, ctx.accountId, input.distinct_id);
      const ids = found === null ? 0 : await deleteEverything(tx, ctx.accountId, found.person);
      return { distinct_ids: ids };
    });
  },
});
