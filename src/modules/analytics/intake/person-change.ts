// Person changes that an event carries: further IDs of its person, and person properties. The names are PostHog's.
import { cleanJson, cleanText } from '../../../lib/clean-text.ts';
import { DISTINCT_ID_CHARACTERS_MAX, NESTING_MAX, PERSON_BYTES_MAX } from '../limits.ts';
import { isDeeper } from './depth.ts';

export type Members = Readonly<Record<string, unknown>>;

/** `identify`: the other is an anonymous one, and stays alone where it was identified; `alias`: the other is a new name; `merge`: without asking. */
export type Join = 'identify' | 'alias' | 'merge';

export interface PersonChange {
  /** Which of the events says it. */
  readonly event: number;
  readonly join: Join | null;
  /** Place of the other's distinct ID; null: nobody else. */
  readonly other: number | null;
  /** JSON objects; null: nothing. */
  readonly set: string | null;
  readonly setOnce: string | null;
}

const joins: Readonly<Record<string, { readonly join: Join; readonly property: string }>> = {
  $identify: { join: 'identify', property: '$anon_distinct_id' },
  $create_alias: { join: 'alias', property: 'alias' },
  $merge_dangerously: { join: 'merge', property: 'alias' },
};

/** What programs send that forgot to say who it is: joined, all of them were one person. */
const nobody = new Set([
  ...[
    'anonymous',
    'guest',
    'distinctid',
    'distinct_id',
    'id',
    'not_authenticated',
    'email',
    'undefined',
    'true',
    'false',
  ],
  ...['null', 'nan', 'none', '0', '[object object]'],
]);

export function isNobody(distinctId: string): boolean {
  return nobody.has(distinctId.trim().toLowerCase());
}

/** Null: the event says nothing of its person. A sentence: it cannot be taken. `placeOf`: of a distinct ID. */
export function personChangeOf(
  name: string,
  properties: Members,
  placeOf: (distinctId: string) => number,
): Omit<PersonChange, 'event'> | string | null {
  const joined = Object.hasOwn(joins, name) ? joins[name] : undefined;
  const { $set, $set_once } = properties;
  if (isDeeper($set, NESTING_MAX) || isDeeper($set_once, NESTING_MAX))
    return `$set may nest at most ${NESTING_MAX} deep.`;
  const set = objectJson($set);
  const setOnce = objectJson($set_once);
  if (Math.max(set?.length ?? 0, setOnce?.length ?? 0) > PERSON_BYTES_MAX) {
    return `$set and $set_once may have at most ${PERSON_BYTES_MAX} characters each.`;
  }
  if (joined === undefined && set === null && setOnce === null) return null;
  const sent = joined === undefined ? null : (properties[joined.property] ?? null);
  const other = typeof sent === 'string' || typeof sent === 'number' ? cleanText(String(sent)) : '';
  if (other.length > DISTINCT_ID_CHARACTERS_MAX) {
    return `${joined?.property} may have at most ${DISTINCT_ID_CHARACTERS_MAX} characters.`;
  }
  const isSomebody = other !== '' && !isNobody(other);
  return { join: joined?.join ?? null, other: isSomebody ? placeOf(other) : null, set, setOnce };
}

function objectJson(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const json = JSON.stringify(cleanJson(value));
  return json === '{}' ? null : json;
}
