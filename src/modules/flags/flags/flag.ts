// A feature flag: its fields, its stored form, and its record on the wire. Definitions are validated when written, never again when read.
import Type, { type Static } from 'typebox';
import { instant, orNull, plainTextOrNull, textOrNull } from '../../../kit/fields.ts';
import { ruleSteps } from '../../../kit/json-logic/cost.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { iso } from '../../../lib/time.ts';
import { invalidField } from '../../../problems/problem.ts';
import { DEFINITION_BYTES_MAX, METADATA_MEMBERS_MAX, VARIANTS_MAX } from '../limits.ts';
import { checkAnswers } from '../rules/answers.ts';
import { rolloutFields, rolloutOf } from '../rules/rollout.ts';

export type Members = Readonly<Record<string, unknown>>;
export const members = (description: string, bounds: object = {}) =>
  Type.Record(Type.String(), Type.Unknown(), { ...bounds, description });

export const keyField = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._~:-]{0,127}$',
  description: 'Key of the flag: letters, digits, `.`, `_`, `~`, `-` and `:`, up to 128.',
});
export const typeField = Type.Enum(['boolean', 'string', 'number', 'object'], { description: 'What its values are.' });

const ENABLED = 'False: the code that asks uses its own default.';

export const settings = {
  description: plainTextOrNull(500, 'What it is for.'),
  enabled: Type.Boolean({ description: ENABLED }),
  default_variant: textOrNull('Name of the variant when no rule decides; null: the default of the code that asks.'),
  variants: members('Values by name, all of the flag’s type, such as `{"on": true, "off": false}`.', {
    minProperties: 1,
    maxProperties: VARIANTS_MAX,
  }),
  targeting: orNull<Members>(
    { type: 'object' },
    "A rule of flagd's (JsonLogic) that answers the name of a variant, or null for the default; `{}` or null: none.",
  ),
  metadata: Type.Unsafe<Readonly<Record<string, string | number | boolean>>>({
    type: 'object',
    maxProperties: METADATA_MEMBERS_MAX,
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    description: 'Texts, numbers and truth values that every evaluation tells.',
  }),
};
export const changedSettings = Type.Partial(Type.Object(settings)).properties;
export const flagInput = Type.Object({
  key: alsoNamed(keyField, 'name'),
  type: typeField,
  ...changedSettings,
  enabled: Type.Optional(Type.Boolean({ default: true, description: ENABLED })),
  variants: settings.variants,
});
type SentFlag = Static<typeof flagInput>;

export const revisionField = Type.Integer({
  description: 'Grows with each change of the account’s flags; that of its last one.',
});
const summarySchema = Type.Object({
  key: keyField,
  type: typeField,
  description: settings.description,
  enabled: settings.enabled,
  default_variant: settings.default_variant,
  has_targeting: Type.Boolean({ description: 'Whether a rule decides.' }),
  revision: revisionField,
  created_at: instant('When it was created.'),
  updated_at: instant('When it was changed last.'),
});
/** As lists show it. */
export const listedSchema = Type.Object({ ...summarySchema.properties, ...rolloutFields });
export const flagSchema = Type.Object({
  ...summarySchema.properties,
  variants: settings.variants,
  targeting: members('The rule; `{}`: none.'),
  metadata: settings.metadata,
});

type Change = Readonly<{ revision: bigint; created_at: number; updated_at: number }>;
type FlagSummary = Omit<Static<typeof summarySchema>, keyof Change> & Change;
/** `definition`: null of a long rule, and of none. */
export type ListedFlag = FlagSummary & { readonly definition: string | null };
export type FlagRow = FlagSummary & {
  /** JSON of variants, targeting and metadata. */
  readonly definition: string;
  readonly bytes: number;
  /** What its rule takes at most. */
  readonly steps: number;
};
export type NewFlag = Omit<FlagRow, keyof Change>;

/** Variants, targeting and metadata. */
export function definitionOf({ definition }: Pick<FlagRow, 'definition'>) {
  return JSON.parse(definition) as Pick<Static<typeof flagSchema>, 'variants' | 'targeting' | 'metadata'>;
}

/** What is stored of it. `at`: what its fields are called in messages begins so. Throws VALIDATION_FAILED. */
export function checkedFlag(sent: SentFlag, at = ''): NewFlag {
  const flag = boundedFlag(sent, at);
  if (flag.has_targeting) checkAnswers(sent.targeting, Object.keys(sent.variants), `${at}targeting`);
  return flag;
}

/** The same after a change. A rule that was taken before such rules were refused does not stand in the way of switching its flag off. */
export function changedFlag(before: FlagRow, sent: Partial<SentFlag>): NewFlag {
  const flag = { ...before, ...definitionOf(before), ...sent };
  const isSame = sent.targeting === undefined && sent.variants === undefined;
  return isSame ? boundedFlag(flag, '') : checkedFlag(flag);
}

function boundedFlag(sent: SentFlag, at: string): NewFlag {
  const { key, type, enabled = true, default_variant = null, variants, metadata = {} } = sent;
  const targeting = sent.targeting ?? {};
  for (const [name, value] of Object.entries(variants)) {
    if (!/^[^\p{Cc}\p{Cs}]{1,100}$/u.test(name))
      throw invalidField(`${at}variants`, 'name', 'The name of a variant has 1 to 100 characters, on one line.');
    if (typeOf(value) !== type)
      throw invalidField(`${at}variants.${name}`, 'type', `The value of this variant is not of type ${type}.`);
  }
  if (default_variant !== null && !Object.hasOwn(variants, default_variant))
    throw invalidField(`${at}default_variant`, 'unknown_variant', 'default_variant names none of the variants.');
  const has_targeting = Object.keys(targeting).length > 0;
  const steps = has_targeting ? ruleSteps(targeting, `${at}targeting`) : 0;
  const definition = JSON.stringify({ variants, targeting, metadata });
  const bytes = Buffer.byteLength(definition);
  if (bytes > DEFINITION_BYTES_MAX) {
    const message = `A flag has at most ${DEFINITION_BYTES_MAX} bytes of variants, targeting and metadata.`;
    throw invalidField(`${at}variants`, 'bytes', message);
  }
  const description = sent.description || null;
  return { key, type, description, enabled, default_variant, has_targeting, definition, bytes, steps };
}

/** Null: a value that no flag has. */
export function typeOf(value: unknown): SentFlag['type'] | null {
  return typeField.enum.find((type) => type === typeof value && value !== null && !Array.isArray(value)) ?? null;
}

/** Names of the settings that differ. */
export function changedFields(before: NewFlag, after: NewFlag): string[] {
  const [old, now]: Members[] = [before, after].map((flag) => ({ ...flag, ...definitionOf(flag) }));
  return Object.keys(settings).filter((name) => JSON.stringify(old?.[name]) !== JSON.stringify(now?.[name]));
}

export function showSummary({ revision, created_at, updated_at, ...flag }: FlagSummary) {
  return { ...flag, revision: Number(revision), created_at: iso(created_at), updated_at: iso(updated_at) };
}

export function showListed({ definition, ...flag }: ListedFlag) {
  const isLong = flag.has_targeting && definition === null;
  const { targeting } = definition === null ? { targeting: {} } : definitionOf({ definition });
  const rollout = isLong ? { conditions: null, rollout: null } : rolloutOf(targeting, flag.default_variant);
  return { ...showSummary(flag), ...rollout };
}

export function showFlag({ definition, bytes: _, steps: __, ...summary }: FlagRow) {
  return { ...showSummary(summary), ...definitionOf({ definition }) };
}
