import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { instant, instantOrNull, whole } from '../../../kit/fields.ts';
import { listOf } from '../../../kit/resource.ts';
import { invalidField } from '../../../problems/problem.ts';
import { LINKED_KEYS, RECENT_DECISIONS } from '../limits.ts';
import { decisionRecord, listDecisions, subjectRecord } from '../score/decisions.ts';
import { KEY_PATTERN, KINDS, keyFrom, sentOf } from '../signals/keys.ts';
import { WINDOWS } from '../signals/series.ts';
import type { RiskState } from '../state.ts';
import { keyFields, verdictFields } from './score.ts';

const decisionSchema = Type.Object({
  ...verdictFields,
  event: Type.String({ description: 'What the person did.' }),
  keys: Type.Array(Type.String(), { description: 'Keyed hashes of what was sent.' }),
  created_at: instant('When it was scored.'),
});
const keyField = Type.String({
  maxLength: 32,
  pattern: KEY_PATTERN,
  description: 'A keyed hash that an answer showed, such as `user_…`.',
});

export const decisions = listOf(
  {
    noun: 'decision',
    output: decisionSchema,
    show: decisionRecord,
    list: listDecisions,
    positionOf: ({ seq }) => String(seq),
  },
  {
    path: '/v1/risk/decisions',
    summary: 'Lists decisions.',
    description: 'Of all keys, newest first, for 30 days; those to review or blocked by `action`.',
    keywords: ['fraud review queue', 'blocked logins'],
    filters: { action: Type.Optional(Type.Enum(['review', 'block'], { description: 'Only these; absent: all.' })) },
    examples: [{ title: 'What to review', input: { action: 'review', limit: 10 }, expect: { has_more: false } }],
  },
);

const linked = KINDS.map(({ many }) => {
  const keys = Type.Array(Type.String(), { description: `Keyed hashes of up to ${LINKED_KEYS} of them.` });
  return [
    many,
    Type.Object({ count: whole('In 30 days.'), keys }, { description: `The ${many} seen with it.` }),
  ] as const;
});
const counts = WINDOWS.map(({ name }) => [`count_${name}`, whole(`Calls with it in ${name}.`)] as const);

export const subject = defineCapability<RiskState>()({
  method: 'GET',
  path: '/v1/risk/subject',
  summary: 'Shows what is known of a user, device, address or mailbox.',
  description:
    'Its latest decisions, how often it was seen, and what it was seen with, as numbers and keyed hashes. Name one of user_id, device_id, ip, email and key.',
  keywords: ['fraud history of user', 'linked accounts', 'users on the same device'],
  input: Type.Object({ ...keyFields, key: Type.Optional(keyField) }),
  output: Type.Object({
    key: Type.String({ description: 'Its keyed hash.' }),
    kind: Type.String({ description: 'ip, email, user or device.' }),
    last_seen_at: instantOrNull('Null: not in 30 days.'),
    counts: Type.Object(Object.fromEntries(counts), { description: 'How often it was seen.' }),
    linked: Type.Object(Object.fromEntries(linked), { description: 'What was seen in one call with it.' }),
    decisions: Type.Array(decisionSchema, { description: `The latest ${RECENT_DECISIONS} of 30 days, newest first.` }),
  }),
  examples: [{ title: 'A user', input: { user_id: 'u-17' }, expect: { kind: 'user' } }],
  async run({ ctx, input, state }) {
    const named = state.hashes.of(ctx.accountId, sentOf(input));
    if (input.key !== undefined) named.push(keyFrom(input.key));
    const [key, ...others] = named;
    if (key === undefined || others.length > 0)
      throw invalidField('user_id', 'one_of', 'Name one of user_id, device_id, ip, email and key.');
    return { data: await subjectRecord(ctx.core.db, ctx.accountId, key) };
  },
});
