import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { invalidField } from '../../../problems/problem.ts';
import { keyField, keyFields, subjectSchema } from '../schemas.ts';
import { subjectOf } from '../score/subject.ts';
import { KINDS, keyFrom } from '../signals/keys.ts';
import type { RiskState } from '../state.ts';

export const subject = defineCapability<RiskState>()({
  method: 'GET',
  path: '/v1/risk/subject',
  summary: 'Shows what is known of a user, device, address or mailbox.',
  description:
    'Its latest decisions, how often it was seen, and what it was seen with, as numbers and keyed hashes. Name one of user_id, device_id, ip, email and key. ' +
    'One that was not seen in 30 days has no decisions and counts of 0.',
  keywords: ['fraud history of user', 'linked accounts', 'users on the same device'],
  input: Type.Object({ ...keyFields, key: Type.Optional(keyField) }),
  output: subjectSchema,
  examples: [
    {
      title: 'A user',
      before: [{ capability: 'risk.score', input: { event: 'login', ip: '203.0.113.7', user_id: 'u-17' } }],
      input: { user_id: 'u-17' },
      expect: { kind: 'user' },
    },
  ],
  async run({ ctx, input, state }) {
    const named = KINDS.flatMap(({ kind, field }) => {
      const text = input[field] ?? null;
      return text === null ? [] : [state.hashes.of(ctx.accountId, kind, text)];
    });
    if (input.key !== undefined) named.push(keyFrom(input.key));
    const [key, ...others] = named;
    if (key === undefined || others.length > 0) {
      throw invalidField('user_id', 'one_of', 'Name one of user_id, device_id, ip, email and key.');
    }
    return { data: await subjectOf(state, ctx.accountId, key) };
  },
});
