// Fields and records of approvals and their rules.
import Type, { type Static } from 'typebox';
import type { RuleRow } from '../../../approvals/rules.ts';
import type { ApprovalRow, ListedRow } from '../../../approvals/store.ts';
import { statusOf } from '../../../approvals/store.ts';
import { instant, instantOrNull, orNull, plainTextOrNull, textOrNull } from '../../../kit/fields.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { usd } from '../../../lib/money.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';

const CAPABILITIES_MAX = 100;
const KEYS_MAX = 100;
const APPROVERS_MAX = 20;
export const EXPIRES_SECONDS = { min: 60, max: 604_800, usual: 86_400 };
export const WORDS_CHARACTERS_MAX = 500;

export const ruleNameField = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[a-z0-9][a-z0-9._-]*$',
  description: 'Name of the rule: small letters, digits, `.`, `_` and `-`.',
});
export const approvalIdField = alsoNamed(
  Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '^apr_[A-Za-z0-9]+$',
    description: 'Id of the approval, `apr_…`, as APPROVAL_REQUIRED and list have it.',
  }),
  'id',
);

export const capabilitiesField = Type.Array(
  Type.String({ minLength: 1, maxLength: 100, description: 'A capability, a module, or the beginning of an id.' }),
  {
    minItems: 1,
    maxItems: CAPABILITIES_MAX,
    description:
      'What the rule is about: capability ids such as `queue.delete`, modules such as `email`, `*` for all. A batch is asked about when it is created.',
  },
);
export const keysField = orNull<readonly string[]>(
  { type: 'array', minItems: 1, maxItems: KEYS_MAX, items: { type: 'string', pattern: '^key_[0-9A-Za-z]{20,40}$' } },
  'Ids of the keys that the rule binds. Null: all keys, those to come too.',
);
export const whenField = Type.Object(
  {
    cost_usd_above: Type.Optional(
      orNull<number>({ type: 'number', minimum: 0 }, 'Only calls that may cost more than this, USD.'),
    ),
    input: Type.Optional(
      orNull<object>(
        { type: 'object' },
        'Only inputs for which this rule of JsonLogic holds, as flags have it: {"==": [{"var": "queue"}, "orders"]}. An input that it cannot look at is asked about.',
      ),
    ),
    first_use_of_key: Type.Optional(
      Type.Boolean({ description: 'Only until the key has once made such a call.', default: false }),
    ),
  },
  { description: 'Which of these calls. All that is named must hold; empty: every call.' },
);
export const approversField = orNull<readonly string[]>(
  {
    type: 'array',
    minItems: 1,
    maxItems: APPROVERS_MAX,
    items: { type: 'string', pattern: '^pers_[0-9A-Za-z]{1,60}$' },
  },
  'Ids of people of the account who decide. Null: its owners.',
);
export const expiresField = Type.Integer({
  minimum: EXPIRES_SECONDS.min,
  maximum: EXPIRES_SECONDS.max,
  default: EXPIRES_SECONDS.usual,
  description: 'How long people have to decide, and the key to repeat an approved call; a day when not sent.',
});

export const ruleSchema = Type.Object({
  name: Type.String({ description: 'Its name.' }),
  capabilities: Type.Array(Type.String(), { description: 'What it is about.' }),
  keys: orNull<readonly string[]>({ type: 'array', items: { type: 'string' } }, 'Keys that it binds; null: all.'),
  when: Type.Object(
    {
      cost_usd_above: orNull<number>({ type: 'number' }, 'Calls that may cost more, USD; null: whatever they cost.'),
      input: orNull<object>({ type: 'object' }, 'JsonLogic over the input; null: every input.'),
      first_use_of_key: Type.Boolean({ description: 'Only until the key has once made such a call.' }),
    },
    { description: 'Which of these calls.' },
  ),
  approvers: orNull<readonly string[]>(
    { type: 'array', items: { type: 'string' } },
    'People who decide; null: owners.',
  ),
  expires_seconds: Type.Integer({ description: 'How long people have to decide.' }),
  reason_required: Type.Boolean({ description: 'Whether a decision needs words.' }),
  created_at: instant('When it was made.'),
  updated_at: instant('When it was last changed.'),
});
export type RuleRecord = Static<typeof ruleSchema>;

export function ruleRecord(row: RuleRow): RuleRecord {
  return {
    name: row.name,
    capabilities: JSON.parse(row.capabilities),
    keys: row.keys === null ? null : JSON.parse(row.keys),
    when: {
      cost_usd_above: row.cost_above_nanos === null ? null : usd(row.cost_above_nanos),
      input: row.input_rule === null ? null : JSON.parse(row.input_rule),
      first_use_of_key: row.first_use,
    },
    approvers: row.approvers === null ? null : JSON.parse(row.approvers),
    expires_seconds: row.expires_seconds,
    reason_required: row.reason_required,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

export const statuses = ['pending', 'approved', 'denied', 'expired', 'used'] as const;

export const wordsField = Type.Optional(
  plainTextOrNull(
    WORDS_CHARACTERS_MAX,
    `Why, up to ${WORDS_CHARACTERS_MAX} characters: the caller reads it. Required where the rule asks for a reason.`,
  ),
);

/** Without the input, which may be long. */
export const listedApprovalSchema = Type.Object({
  approval_id: Type.String({ description: 'Id of the approval.' }),
  status: Type.Enum([...statuses], {
    description:
      '`approved`: the caller may repeat its call. `used`: the call has run. `expired`: nobody decided in time, the call did not come again, or its rule was changed.',
  }),
  rule: Type.String({ description: 'Rule that asks.' }),
  capability: Type.String({ description: 'What is called.' }),
  key_id: Type.String({ description: 'The key that calls.' }),
  cost_usd_max: Type.Number({ description: 'The most that the call may cost, USD.' }),
  approvers: orNull<readonly string[]>(
    { type: 'array', items: { type: 'string' } },
    'People who decide; null: owners.',
  ),
  reason_required: Type.Boolean({ description: 'Whether a decision needs words.' }),
  words: textOrNull('What the person said; null: nothing.'),
  decided_by: textOrNull('The person; null: nobody has decided.'),
  decided_at: instantOrNull('When it was decided; null: it was not.'),
  lasts_until: instantOrNull('Until when the key may make such calls; null: this call alone.'),
  left_usd: orNull<number>({ type: 'number' }, 'What these calls may still cost together, USD; null: this call alone.'),
  request_id: Type.String({ description: 'The request that asked first.' }),
  created_at: instant('When the call first asked.'),
  expires_at: instant('Until when it can be decided, or repeated.'),
});

export const approvalSchema = Type.Object({
  ...listedApprovalSchema.properties,
  input: orNull<object>({ type: 'object' }, 'What was sent, without secrets; null: it is no JSON, or too long.'),
});

export function approvalRecord(row: ApprovalRow, nowMs: number) {
  return { ...listedApproval(row, nowMs), input: row.input === null ? null : JSON.parse(row.input) };
}

export function listedApproval(row: ListedRow, nowMs: number) {
  return {
    approval_id: row.approval_id,
    status: statusOf(row, nowMs),
    rule: row.rule_name,
    capability: row.capability,
    key_id: row.key_id,
    cost_usd_max: usd(row.cost_nanos),
    approvers: row.approvers === null ? null : JSON.parse(row.approvers),
    reason_required: row.reason_required,
    words: row.words,
    decided_by: row.decided_by,
    decided_at: isoOrNull(row.decided_at),
    lasts_until: isoOrNull(row.lasts_until),
    left_usd: row.left_nanos === null ? null : usd(row.left_nanos),
    request_id: row.request_id,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
  };
}

export const deedSchema = Type.Object({
  capability: Type.String({ description: 'What was called.' }),
  calls: Type.Integer({ description: 'How often.' }),
  spend_usd: Type.Number({ description: 'What it cost, USD.' }),
});
