// Filter of errors.list and errors.search, by name. It is checked here because an unknown name is an error of its own.
import Type, { type Static } from 'typebox';
import { alsoListed, listWords } from '../../../kit/filter.ts';
import { cleanText } from '../../../lib/clean-text.ts';
import { instantForm, parseInstant } from '../../../lib/instant.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { environments, levels } from '../limits.ts';
import { type MarkedValue, valueWord } from './value-word.ts';

const TAG = 'tags.';
const VALUE_CHARACTERS_MAX = 1_024;
const TAGS_MAX = 16;

const text = (description: string) => Type.Optional(Type.String({ maxLength: VALUE_CHARACTERS_MAX, description }));
const instant = (description: string) =>
  Type.Optional(
    Type.String({ format: 'date-time', maxLength: 40, description: `${description} A date and time with an offset.` }),
  );
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const filterField = alsoListed(
  Type.Optional(
    Type.Object(
      {
        environment: Type.Optional(Type.Enum([...environments], { description: 'Where it happened.' })),
        level: Type.Optional(Type.Enum([...levels], { description: 'How grave it is.' })),
        release: text('Version of your software.'),
        user_id: text('Whom it happened to.'),
        error_group_id: text('Only events of this group.'),
        from: instant('Only events received from then on.'),
        to: instant('Only events received before then.'),
        is_resolved: flag('Whether their group is resolved.'),
        is_ignored: flag('Whether their group is ignored.'),
      },
      {
        additionalProperties: true,
        description: `All must match. As JSON, or as filter[level]=error in the query. Beside the named ones: \`tags.NAME\`, the value of a tag. ${listWords}`,
      },
    ),
  ),
);

type SentFilter = Static<typeof filterField> | undefined;

/** A filter ready to be used. */
export interface EventFilter {
  readonly environment: string | null;
  readonly level: string | null;
  readonly groupId: string | null;
  readonly isResolved: boolean | null;
  readonly isIgnored: boolean | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Words of release, user and tags: what no counter knows. */
  readonly words: readonly string[];
}

/** Throws UNSUPPORTED_FILTER for an unknown name, VALIDATION_FAILED for a value that cannot be one. */
export function parseFilter(sent: SentFilter): EventFilter {
  const filter = sent ?? {};
  const known = new Set(Object.keys(filterField.properties));
  const tags = Object.entries(filter).filter(([name]) => !known.has(name));
  for (const [name] of tags) {
    if (!name.startsWith(TAG) || name === TAG) {
      throw problem('UNSUPPORTED_FILTER', {
        param: `filter.${name}`.slice(0, 200),
        message: `The filter knows ${[...known].join(', ')} and tags.NAME.`,
      });
    }
  }
  if (tags.length > TAGS_MAX) throw invalidField('filter', 'maxProperties', `The filter takes up to ${TAGS_MAX} tags.`);
  return {
    environment: filter.environment ?? null,
    level: filter.level ?? null,
    groupId: filter.error_group_id ?? null,
    isResolved: filter.is_resolved ?? null,
    isIgnored: filter.is_ignored ?? null,
    fromMs: instantOf('from', filter.from),
    toMs: instantOf('to', filter.to),
    words: [
      ...labelWords('release', filter.release),
      ...labelWords('user_id', filter.user_id),
      ...tags.map(([name, value]) => tagWord(name as MarkedValue, value)),
    ],
  };
}

function instantOf(name: string, sent: string | undefined): number | null {
  if (sent === undefined) return null;
  const ms = parseInstant(sent);
  if (ms === null) throw invalidField(`filter.${name}`, 'format', `filter.${name} must be ${instantForm}.`);
  return ms;
}

function labelWords(field: MarkedValue, value: string | undefined): string[] {
  return value === undefined ? [] : [valueWord(field, cleanText(value))];
}

function tagWord(name: MarkedValue, value: unknown): string {
  if (typeof value !== 'string')
    throw invalidField(`filter.${name}`.slice(0, 200), 'type', 'The value of a tag is a text.');
  return valueWord(cleanText(name) as MarkedValue, cleanText(value));
}
