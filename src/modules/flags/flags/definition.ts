// A flag as it is written and stored. What is checked here is not checked again when it is evaluated.
import { iso } from '../../../lib/time.ts';
import { invalidField } from '../../../problems/problem.ts';
import { DEFINITION_BYTES_MAX, METADATA_MEMBERS_MAX, VARIANT_NAME_CHARACTERS_MAX, VARIANTS_MAX } from '../limits.ts';
import { ruleSteps } from '../rules/cost.ts';
import type { Kind } from '../schemas.ts';

type Members = Readonly<Record<string, unknown>>;

const VARIANT_NAME = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${VARIANT_NAME_CHARACTERS_MAX}}$`, 'u');

/** What its owner decides. */
export interface Settings {
  readonly key: string;
  readonly kind: Kind;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly default_variant: string | null;
  readonly variants: Members;
  readonly targeting: Members;
  readonly metadata: Members;
}

export interface FlagSummary {
  readonly key: string;
  readonly kind: Kind;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly default_variant: string | null;
  readonly has_targeting: boolean;
  readonly revision: bigint;
  readonly created_at: number;
  readonly updated_at: number;
}

/** As it is stored. `definition`: JSON of variants, targeting and metadata. */
export interface FlagRow extends FlagSummary {
  readonly definition: string;
  readonly bytes: number;
  readonly steps: number;
}

export type NewFlag = Omit<FlagRow, 'revision' | 'created_at' | 'updated_at'>;

/** What is stored of it. `at`: what its fields are called in messages begins so. Throws VALIDATION_FAILED. */
export function checkedFlag(settings: Settings, at = ''): NewFlag {
  const { key, kind, description, enabled, default_variant, variants, targeting, metadata } = settings;
  checkVariants(kind, variants, `${at}variants`);
  if (default_variant !== null && !Object.hasOwn(variants, default_variant))
    throw invalidField(`${at}default_variant`, 'unknown_variant', 'default_variant names none of the variants.');
  checkMetadata(metadata, `${at}metadata`);
  const has_targeting = Object.keys(targeting).length > 0;
  const steps = has_targeting ? ruleSteps(targeting, `${at}targeting`) : 0;
  const definition = JSON.stringify({ variants, targeting, metadata });
  const bytes = Buffer.byteLength(definition);
  if (bytes > DEFINITION_BYTES_MAX)
    throw invalidField(
      `${at}variants`,
      'bytes',
      `A flag has at most ${DEFINITION_BYTES_MAX} bytes of variants, targeting and metadata.`,
    );
  return { key, kind, description, enabled, default_variant, has_targeting, definition, bytes, steps };
}

export function settingsOf({ key, kind, description, enabled, default_variant, definition }: FlagRow): Settings {
  return { key, kind, description, enabled, default_variant, ...JSON.parse(definition) };
}

export function showSummary({ kind, revision, created_at, updated_at, ...row }: FlagSummary) {
  const { key, description, enabled, default_variant, has_targeting } = row;
  const shown = { key, type: kind, description, enabled, default_variant, has_targeting, revision: Number(revision) };
  return { ...shown, created_at: iso(created_at), updated_at: iso(updated_at) };
}

export function showFlag(row: FlagRow) {
  const { variants, targeting, metadata } = settingsOf(row);
  return { ...showSummary(row), variants, targeting, metadata };
}

function checkVariants(kind: Kind, variants: Members, param: string): void {
  const names = Object.keys(variants);
  if (names.length === 0 || names.length > VARIANTS_MAX)
    throw invalidField(param, 'count', `A flag has 1 to ${VARIANTS_MAX} variants.`);
  for (const name of names) {
    if (!VARIANT_NAME.test(name))
      throw invalidField(
        param,
        'name',
        `The name of a variant has 1 to ${VARIANT_NAME_CHARACTERS_MAX} characters, on one line.`,
      );
    if (kindOf(variants[name]) !== kind)
      throw invalidField(`${param}.${name}`, 'type', `The value of this variant is not of type ${kind}.`);
  }
}

/** Null: a value that no flag has. */
export function kindOf(value: unknown): Kind | null {
  if (value === null || Array.isArray(value)) return null;
  const name = typeof value;
  return name === 'boolean' || name === 'string' || name === 'number' || name === 'object' ? name : null;
}

export function checkMetadata(metadata: Members, param: string): void {
  const entries = Object.entries(metadata);
  if (entries.length > METADATA_MEMBERS_MAX)
    throw invalidField(param, 'count', `metadata has at most ${METADATA_MEMBERS_MAX} members.`);
  for (const [name, value] of entries)
    if (!['string', 'number', 'boolean'].includes(typeof value))
      throw invalidField(
        `${param}.${name.slice(0, 100)}`,
        'type',
        'A value of metadata is a text, a number or a truth value.',
      );
}
