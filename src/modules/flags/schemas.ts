// Fields of the operations.
import Type from 'typebox';
import { instant, orNull, plainTextOrNull, textOrNull } from '../../kit/fields.ts';
import { KEY_PATTERN, KEYS_MAX, VARIANTS_MAX } from './limits.ts';

export const kinds = ['boolean', 'string', 'number', 'object'] as const;
export type Kind = (typeof kinds)[number];

export const keyField = Type.String({
  pattern: KEY_PATTERN,
  description: 'Key of the flag: letters, digits, `.`, `_`, `~`, `-` and `:`, up to 128.',
});
export const kindField = Type.Enum([...kinds], { description: 'What its values are.' });

const variants = Type.Record(Type.String(), Type.Unknown(), {
  minProperties: 1,
  maxProperties: VARIANTS_MAX,
  description: `Values by name, all of the flag's type, such as \`{"on": true, "off": false}\`; at most ${VARIANTS_MAX}.`,
});
const targeting = orNull<Record<string, unknown>>(
  { type: 'object' },
  "A rule of flagd's (JsonLogic) that answers the name of a variant; `{}` or null: none. Null as its answer: the default variant.",
);
const metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Texts, numbers and truth values that every evaluation tells.',
});
const defaultVariant = textOrNull('Name of the variant when no rule decides; null: the default of the code that asks.');

export const flagFields = {
  variants,
  default_variant: Type.Optional(defaultVariant),
  targeting: Type.Optional(targeting),
  enabled: Type.Optional(
    Type.Boolean({ default: true, description: 'False: the code that asks uses its own default.' }),
  ),
  description: Type.Optional(plainTextOrNull(500, 'What it is for.')),
  metadata: Type.Optional(metadata),
};

const revision = Type.Integer({ description: 'Grows with each change of the account’s flags; that of its last one.' });

export const summarySchema = Type.Object({
  key: Type.String({ description: 'Its key.' }),
  type: kindField,
  description: textOrNull('What it is for.'),
  enabled: Type.Boolean({ description: 'False: it is off, and evaluations answer DISABLED.' }),
  default_variant: defaultVariant,
  has_targeting: Type.Boolean({ description: 'Whether a rule decides.' }),
  revision,
  created_at: instant('When it was created.'),
  updated_at: instant('When it was changed last.'),
});

export const flagSchema = Type.Object({
  ...summarySchema.properties,
  variants: Type.Record(Type.String(), Type.Unknown(), { description: 'Values by name.' }),
  targeting: Type.Record(Type.String(), Type.Unknown(), { description: 'The rule; `{}`: none.' }),
  metadata,
});

export const contextField = Type.Optional(
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description:
      'Attributes that rules ask for, such as `{"targetingKey": "user-1", "email": "a@example.org"}`; up to 16 KiB.',
  }),
);
export const keysField = Type.Optional(
  Type.Array(keyField, { minItems: 1, maxItems: KEYS_MAX, description: `Keys of flags, 1 to ${KEYS_MAX}.` }),
);

export const evaluationSchema = Type.Object({
  key: Type.String({ description: 'Key of the flag.' }),
  value: Type.Unknown({ description: 'Its value; null where the code that asks uses its own default.' }),
  variant: textOrNull('Name of the value.'),
  reason: Type.String({ description: 'STATIC, DEFAULT, TARGETING_MATCH, DISABLED or ERROR.' }),
  error_code: textOrNull('FLAG_NOT_FOUND, TYPE_MISMATCH, PARSE_ERROR or GENERAL; null: none.'),
});

export const changeSchema = Type.Object({
  revision,
  action: Type.Enum(['create', 'update', 'delete', 'import'], { description: 'What was done.' }),
  actor: Type.String({ description: 'Id of the API key, or of the person, who did it.' }),
  changed_fields: Type.Array(Type.String(), { description: 'Fields that have other values than before.' }),
  flag: orNull<Record<string, unknown>>(
    { type: 'object' },
    'The flag after the change; null: it was deleted, or is longer than 8 KiB.',
  ),
  created_at: instant('When it was done.'),
});
