// Fields and records of the risk operations.
import Type, { type TProperties } from 'typebox';
import {
  instant,
  instantOrNull,
  numberOrNull,
  orNull,
  plainText,
  plainTextOrNull,
  textOrNull,
  wholeOrNull,
} from '../../kit/fields.ts';
import {
  AMOUNT_USD_MAX,
  actions,
  CONTEXT_MEMBERS_MAX,
  eventKinds,
  LABEL_CHARACTERS_MAX,
  LINKED_KEYS,
  POINTS_MAX,
  RECENT_DECISIONS,
  RULES_MAX,
} from './limits.ts';
import { entryKinds, listNames } from './lists/entries.ts';
import { KEY_PATTERN, KINDS } from './signals/keys.ts';
import { WINDOWS } from './signals/series.ts';
import { countNames } from './signals/signals.ts';

const whole = (description: string) => Type.Integer({ minimum: 0, description });
const label = (description: string) =>
  orNull<string>(
    { type: 'string', minLength: 1, maxLength: LABEL_CHARACTERS_MAX, pattern: '^[^\\p{Cc}\\p{Cs}]*$' },
    description,
  );

export const keyFields = {
  ip: Type.Optional(label('Network address of the person, IPv4 or IPv6; of IPv6 the /64 counts.')),
  email: Type.Optional(label('E-mail address; the mailbox counts, whatever its case and +tag.')),
  user_id: Type.Optional(label('Your id of the user.')),
  device_id: Type.Optional(label('Your id of the device.')),
};

export const scoreFields = Type.Object({
  event: Type.Unsafe<(typeof eventKinds)[number]>({
    ...{ type: 'string', enum: [...eventKinds], description: 'What the person does.' },
  }),
  ...keyFields,
  amount_usd: Type.Optional(
    orNull<number>({ type: 'number', minimum: 0, maximum: AMOUNT_USD_MAX }, 'What is paid, for your rules.'),
  ),
  context: Type.Optional(
    orNull<Record<string, string | number | boolean | null>>(
      {
        type: 'object',
        maxProperties: CONTEXT_MEMBERS_MAX,
        propertyNames: { pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' },
        additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: LABEL_CHARACTERS_MAX },
      },
      `Plain values for your rules, as context.NAME; up to ${CONTEXT_MEMBERS_MAX}. Kept with the decision for 30 days: send nothing secret.`,
    ),
  ),
});

export const pointsField = Type.Integer({
  ...{ minimum: -POINTS_MAX, maximum: POINTS_MAX },
  description: 'Added to the score where the rule matches; negative ones lower it.',
});

const reasonSchema = Type.Object({
  rule: Type.String({ description: 'Id of a rule that matched; `list:allow` or `list:block` where an entry decided.' }),
  points: Type.Integer({ description: 'What it added.' }),
  detail: Type.String({ description: 'Its description, and the values of the signals that it looks at.' }),
});

export const verdictFields = {
  risk_id: Type.String({ description: 'Id of the decision.' }),
  score: Type.Integer({ minimum: 0, maximum: 100, description: 'Sum of the points, from 0 to 100.' }),
  action: Type.Unsafe<(typeof actions)[number]>({
    ...{ type: 'string', enum: [...actions], description: 'By the thresholds, or by a list entry alone.' },
  }),
  reasons: Type.Array(reasonSchema, { description: 'Every rule that matched, in the order of the rules.' }),
};

/** Signals of a key, which are null where it was not sent. */
function keySignals(kind: string, place: number, known: TProperties) {
  const counts = (countNames[place] ?? []).map((name) => {
    const [what, window] = name.split('_');
    const text = what === 'count' ? 'Calls with it' : `Distinct ${what} seen with it`;
    return [name, whole(`${text} in ${window}, this call included.`)];
  });
  return Type.Union([Type.Object({ ...known, ...Object.fromEntries(counts) }), Type.Null()], {
    description: `Signals of the ${kind}; null where none was sent.`,
  });
}

const known: Readonly<Record<string, TProperties>> = {
  ip: {
    kind: Type.String({ description: 'public, private, loopback, link_local, cgnat, documentation, multicast, …' }),
    country: textOrNull('ISO 3166-1 code, by the operator’s database; null without one.'),
    asn: wholeOrNull('Number of the network, by that database.'),
    network: textOrNull('Name of the network, by that database.'),
  },
  email: {
    is_disposable: Type.Boolean({ description: 'The domain gives out throw-away mailboxes.' }),
    has_mx: orNull<boolean>(
      { type: 'boolean' },
      'Whether the domain has MX records; null: not known within 300 ms, or disposable.',
    ),
  },
};

export const scoreResultSchema = Type.Object({
  ...verdictFields,
  signals: Type.Object(
    {
      event: Type.String({ description: 'As sent.' }),
      amount_usd: numberOrNull('As sent.'),
      ...Object.fromEntries(KINDS.map(({ kind }, place) => [kind, keySignals(kind, place, known[kind] ?? {})])),
      context: Type.Unknown({ description: 'As sent.' }),
    },
    { description: 'What the rules saw.' },
  ),
});

export const keyField = Type.String({
  ...{ maxLength: 32, pattern: KEY_PATTERN },
  description: 'A keyed hash that an answer showed, such as `user_…`.',
});

export const decisionSchema = Type.Object({
  ...verdictFields,
  event: Type.String({ description: 'What the person did.' }),
  keys: Type.Array(Type.String(), { description: 'Keyed hashes of what was sent.' }),
  created_at: instant('When it was scored.'),
});

const linkedSchema = (many: string) =>
  Type.Object(
    {
      count: whole('In 30 days.'),
      keys: Type.Array(Type.String(), { description: `Keyed hashes of up to ${LINKED_KEYS} of them.` }),
    },
    { description: `The ${many} that were seen with it.` },
  );

export const subjectSchema = Type.Object({
  key: Type.String({ description: 'Its keyed hash.' }),
  kind: Type.String({ description: 'ip, email, user or device.' }),
  last_seen_at: instantOrNull('Null: not in 30 days.'),
  counts: Type.Object(
    Object.fromEntries(WINDOWS.map(({ name }) => [`count_${name}`, whole(`Calls with it in ${name}.`)])),
    {
      description: 'How often it was seen.',
    },
  ),
  linked: Type.Object(Object.fromEntries(KINDS.map(({ many }) => [many, linkedSchema(many)])), {
    description: 'What was seen in one call with it.',
  }),
  decisions: Type.Array(decisionSchema, { description: `The latest ${RECENT_DECISIONS} of 30 days, newest first.` }),
});

const ruleSchema = Type.Object({
  id: Type.String({
    pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
    description: 'Name of the rule in reasons; no two share it.',
  }),
  points: pointsField,
  description: Type.Optional(plainTextOrNull(200, 'For people; it stands in reasons.')),
  when: Type.Unknown({
    description:
      'JsonLogic over the signals: {">": [{"var": "ip.users_1h"}, 5]}. Operators: var and or ! !! if < <= > >= == != === !== + - * / % min max in.',
  }),
});

export const rulesFields = {
  thresholds: Type.Object(
    {
      review: Type.Integer({ minimum: 1, maximum: 101, description: 'From this score on: review; 101: never.' }),
      block: Type.Integer({ minimum: 1, maximum: 101, description: 'From this score on: block; 101: never.' }),
    },
    { description: 'Which score leads to which action.' },
  ),
  rules: Type.Array(ruleSchema, {
    maxItems: RULES_MAX,
    description: `Up to ${RULES_MAX}, each looked at in every call.`,
  }),
};

export const rulesSchema = Type.Object({
  ...rulesFields,
  is_default: Type.Boolean({ description: 'Whether these are the rules of an account that has set none.' }),
  revision: whole('Grows with every change.'),
  updated_at: instantOrNull('Null: never set.'),
});

export const kindField = Type.Unsafe<(typeof entryKinds)[number]>({
  ...{ type: 'string', enum: [...entryKinds], description: 'What value is.' },
});
export const listField = Type.Unsafe<(typeof listNames)[number]>({
  ...{ type: 'string', enum: [...listNames], description: 'allow wins where both lists have an entry for a call.' },
});
export const valueField = plainText(
  LABEL_CHARACTERS_MAX,
  'An address, a network such as 192.0.2.0/24, a mailbox, a domain (its subdomains included), a user id or a device id.',
);
export const entrySchema = Type.Object({
  list: listField,
  kind: kindField,
  value: Type.String({
    description: 'In one writing: addresses and domains in lower case, networks by their first address.',
  }),
  note: textOrNull('As sent.'),
  created_at: instant('When it was added or last changed.'),
  expires_at: instantOrNull('Null: for good.'),
});
