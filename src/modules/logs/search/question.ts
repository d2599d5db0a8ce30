// The query of a log search: filters that search, histogram and tail share.
import Type, { type Static } from 'typebox';
import { alsoListed, listWords } from '../../../kit/filter.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { cleanText } from '../../../lib/clean-text.ts';
import { instantForm, parseInstant } from '../../../lib/instant.ts';
import { type SearchedWords, searchedWords } from '../../../lib/words/words.ts';
import { invalidField, type Problem } from '../../../problems/problem.ts';
import { AHEAD_MS_MAX, NAME_CHARACTERS_MAX } from '../limits.ts';
import { levels } from '../records/levels.ts';
import { attributeMark, marksOfWords, serviceMark, traceMark } from '../records/marks.ts';
import { MINUTE_MS } from '../records/summary.ts';

const ATTRIBUTES_MAX = 16;
const VALUE_CHARACTERS_MAX = 1_024;

/** Of a question whose records take too long to look at. */
export function tooLate(): Problem {
  return invalidField('from', 'too_complex', 'The question takes too long to answer. Ask for a shorter time.');
}

const instant = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description }));

export const periodFields = {
  from: instant('Only records from then on: a date and time with an offset. Absent: all that are kept.'),
  to: instant('Only records before then. Absent: up to now.'),
};

export const filterFields = {
  q: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description:
        'Words that the message or the attributes hold, in any case: whole (`card_declined`) or a part (`declined`); the last word also as a beginning.',
    }),
  ),
  ...periodFields,
  service: Type.Optional(Type.String({ maxLength: 256, description: 'Only of this service.' })),
  level: Type.Optional(Type.Enum([...levels], { description: 'This level, or one above.' })),
  trace_id: Type.Optional(
    Type.String({ pattern: '^[0-9A-Fa-f]{32}$', description: 'Only of this trace: 32 hexadecimal digits.' }),
  ),
  filter: alsoNamed(
    alsoListed(
      Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            maxProperties: ATTRIBUTES_MAX,
            description: `Values of attributes, by name; all must match. In a query: \`filter.NAME=value\`. ${listWords}`,
          },
        ),
      ),
    ),
    'attributes',
  ),
};

const filterSchema = Type.Object(filterFields);
export type SentFilter = Static<typeof filterSchema>;

/** Survives structured cloning. */
export interface Question {
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
  /** Place in `levels` of the least grave. */
  readonly level: number;
  readonly service: string | null;
  readonly traceId: string | null;
  /** A string itself, anything else as JSON. */
  readonly attributes: readonly (readonly [name: string, plain: string])[];
  /** Null: any. */
  readonly words: SearchedWords | null;
}

/** Throws VALIDATION_FAILED. */
export function questionOf(sent: SentFilter, nowMs: number): Question {
  const words = searchedWords(sent.q ?? '');
  return {
    fromMs: instantOf('from', sent.from) ?? 0,
    toMs: Math.min(instantOf('to', sent.to) ?? Number.MAX_SAFE_INTEGER, nextMinute(nowMs + AHEAD_MS_MAX)),
    level: levels.indexOf(sent.level ?? 'trace'),
    service: sent.service === undefined ? null : cleanText(sent.service),
    traceId: sent.trace_id?.toLowerCase() ?? null,
    attributes: attributesOf(sent),
    words: words.prefix === null ? null : words,
  };
}

function instantOf(name: string, sent: string | undefined): number | null {
  if (sent === undefined) return null;
  const ms = parseInstant(sent);
  if (ms === null) throw invalidField(name, 'format', `${name} must be ${instantForm}.`);
  return ms;
}

/** Nothing that is stored is later: it is the same for calls of a minute. */
const nextMinute = (ms: number) => (Math.floor(ms / MINUTE_MS) + 1) * MINUTE_MS;

function attributesOf(sent: SentFilter): (readonly [string, string])[] {
  const all = Object.entries(sent.filter ?? {});
  if (all.length > ATTRIBUTES_MAX)
    throw invalidField('filter', 'maxProperties', `At most ${ATTRIBUTES_MAX} attributes can be asked for.`);
  return all.map(([name, value]) => [cleanText(name.slice(0, NAME_CHARACTERS_MAX)), plainValue(name, value)]);
}

function plainValue(name: string, value: unknown): string {
  const plain = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  const isOne = value === null || typeof value !== 'object';
  if (isOne && plain.length <= VALUE_CHARACTERS_MAX) return cleanText(plain);
  throw invalidField(
    `filter.${name}`.slice(0, 200),
    'type',
    `The value of an attribute is a string, number or boolean of at most ${VALUE_CHARACTERS_MAX} characters.`,
  );
}

/** What every block with an answer has. */
export function marksOf({ service, traceId, attributes, words }: Question): string[] {
  return [
    ...(service === null ? [] : [serviceMark(service)]),
    ...(traceId === null ? [] : [traceMark(traceId)]),
    ...attributes.map((pair) => attributeMark(...pair)),
    ...(words === null ? [] : marksOfWords(words)),
  ];
}

/** Whether times and levels are all that is asked for. */
export function isOfTimes({ service, traceId, attributes, words }: Question): boolean {
  return service === null && traceId === null && attributes.length === 0 && words === null;
}
