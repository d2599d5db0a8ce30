// Schema fields shared by the operations of all modules.
import Type, { type TSchema } from 'typebox';
import { SHORT_SECONDS, TIMEOUT_SECONDS_MAX } from '../core/outbound/long-calls.ts';
import { alsoNamed } from './second-names.ts';

/** A schema of one type that also takes null, which means the same as absent in what is sent. */
export function orNull<T>(schema: Readonly<Record<string, unknown>>, description: string) {
  const enumerated = schema.enum === undefined ? {} : { enum: [...(schema.enum as readonly unknown[]), null] };
  return Type.Unsafe<T | null>({ ...schema, ...enumerated, type: [schema.type as string, 'null'], description });
}

/** On one line: no control characters, which PostgreSQL does not take either. */
const PLAIN = '^[^\\p{Cc}\\p{Cs}]*$';

/** A text that somebody typed, on one line. */
export const plainText = (charactersMax: number, description: string) =>
  Type.String({ minLength: 1, maxLength: charactersMax, pattern: PLAIN, description });
/** The same; null and the empty text: none. */
export const plainTextOrNull = (charactersMax: number, description: string) =>
  orNull<string>({ type: 'string', maxLength: charactersMax, pattern: PLAIN }, description);
export const textOrNull = (description: string) => orNull<string>({ type: 'string' }, description);
/** Not negative. */
export const whole = (description: string) => Type.Integer({ minimum: 0, description });
/** Not negative. */
export const wholeOrNull = (description: string) => orNull<number>({ type: 'integer', minimum: 0 }, description);
/** Not negative. */
export const numberOrNull = (description: string) => orNull<number>({ type: 'number', minimum: 0 }, description);
export const instant = (description: string) => Type.String({ format: 'date-time', description });
export const instantOrNull = (description: string) =>
  orNull<string>({ type: 'string', format: 'date-time' }, description);

/** How long what the call makes lives, seconds: a field named `expires_seconds`. */
export const expiresField = (seconds: { min: number; max: number; usual: number }, description: string) =>
  alsoNamed(
    Type.Optional(Type.Integer({ minimum: seconds.min, maximum: seconds.max, default: seconds.usual, description })),
    'ttl_seconds',
    'expires_in',
  );

/** How long something of the caller's may take. Without a default: a change that does not name it leaves it. */
export const timeoutField = (what: string, absent = '15 when not sent') =>
  Type.Integer({
    minimum: 1,
    maximum: TIMEOUT_SECONDS_MAX,
    description: `${what}, in seconds: 1 to ${TIMEOUT_SECONDS_MAX}; ${absent}.`,
  });
/** What is said of them where they can be set. */
export const LONG_CALLS = `Beyond ${SHORT_SECONDS} s: 20 / 200 / 2,000 at once by tier; more wait.`;

/** A wrong one is INVALID_CURSOR, whatever it looks like. */
export const cursorField = Type.Optional(
  Type.String({
    maxLength: 4096,
    description: 'next_cursor of the page before, with the same filters. Absent: the first page.',
  }),
);
export const limitField = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Entries a page, 1 to 100; 20 when not sent.' }),
);

export const pageFields = {
  next_cursor: textOrNull('Send it as cursor to get the next page; null at the end.'),
  has_more: Type.Boolean({ description: 'Whether there is a next page.' }),
};

export const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({ items: Type.Array(item, { description: 'This page.' }), ...pageFields });
