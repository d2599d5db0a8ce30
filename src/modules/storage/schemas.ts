// Fields shared by the storage operations.
import Type from 'typebox';
import { orNull } from '../../kit/fields.ts';
import { patternWithWords, patternWords } from '../../lib/pattern-words.ts';
import { KEY_BYTES_MAX } from '../../objects/limits.ts';
import { invalidField } from '../../problems/problem.ts';
import {
  ALLOWED_HEADER_PATTERN,
  CORS_HEADER_CHARACTERS_MAX,
  CORS_METHODS,
  CORS_ORIGIN_CHARACTERS_MAX,
  CORS_RULES_MAX,
  CORS_SECONDS_MAX,
  CORS_VALUES_MAX,
  EXPOSED_HEADER_PATTERN,
  ORIGIN_PATTERN,
} from './buckets/cors.ts';
import { LIFECYCLE_DAYS_MAX, LIFECYCLE_RULES_MAX } from './buckets/lifecycle.ts';

const NO_ADDRESS = '(?!\\d+\\.\\d+\\.\\d+\\.\\d+$)';
const BUCKET_CHARACTERS = '[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$';
const bucketPattern = (apart: string) =>
  patternWithWords(
    `^(?!.*${apart})${NO_ADDRESS}${BUCKET_CHARACTERS}`,
    'must be 3 to 63 of a-z, 0-9, - and ., with a letter or digit at both ends and beside each .',
  );
const bucketName = (pattern: string, description: string) =>
  Type.String({ minLength: 3, maxLength: 63, pattern, description });

const BUCKET_NAME = '3 to 63 lower-case letters, digits, `-` and `.`; a letter or digit at both ends.';

/** Of a bucket that is there: older ones may have a hyphen beside a dot. */
export const bucketField = bucketName(bucketPattern('\\.\\.'), `${BUCKET_NAME} It belongs to the account alone.`);

/** Each part between dots must be a name of a host by itself. */
const NEW_BUCKET = bucketPattern('(?:\\.\\.|\\.-|-\\.)');
const NEW_BUCKET_NAME = `${BUCKET_NAME} No \`.\` beside another or beside a \`-\`.`;

export const newBucketField = bucketName(NEW_BUCKET, `${NEW_BUCKET_NAME} It belongs to the account alone.`);

/** Throws VALIDATION_FAILED for what could be no new bucket's name. */
export function requireBucketName(bucket: string): void {
  if (!new RegExp(NEW_BUCKET).test(bucket)) {
    throw invalidField('bucket', 'pattern', `bucket ${patternWords(NEW_BUCKET)}.`);
  }
}

export const keyField = Type.String({
  minLength: 1,
  maxLength: KEY_BYTES_MAX,
  description: `1 to ${KEY_BYTES_MAX} bytes of UTF-8. Every character is allowed, \`/\` too.`,
});

export const metadataField = Type.Record(Type.String(), Type.String(), {
  description: 'Names in lower case with their values, 2 KiB in all.',
});

export const contentTypeField = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x20-\\x7e]+$',
  description: 'application/octet-stream when absent; text/plain of `content`.',
});

const ageRules = (days: string, description: string) =>
  Type.Array(
    Type.Object(
      {
        prefix: Type.String({ maxLength: KEY_BYTES_MAX, description: 'Keys that begin with it; empty: all.' }),
        days: Type.Integer({ minimum: 1, maximum: LIFECYCLE_DAYS_MAX, description: days }),
      },
      { description: 'A rule.' },
    ),
    { maxItems: LIFECYCLE_RULES_MAX, description },
  );

export const expireField = ageRules(
  'Objects written so many days ago are deleted.',
  'Objects that are deleted by their age; an empty list: none.',
);

export const abortUploadsField = ageRules(
  'Uploads begun so many days ago and not completed are aborted.',
  'Unfinished uploads in parts that are aborted by their age; an empty list: only those without a new part for seven days.',
);

export const QUEUE_NAME_CHARACTERS_MIN = 3;

const notifyObject = Type.Object({
  queue: Type.String({ minLength: QUEUE_NAME_CHARACTERS_MIN, maxLength: 80, description: 'A queue of the account.' }),
  events: Type.Array(Type.Enum(['created', 'deleted']), {
    minItems: 1,
    maxItems: 2,
    description: 'What it is told of.',
  }),
});

export const notifyField = orNull<{ queue: string; events: ('created' | 'deleted')[] }>(
  { ...notifyObject },
  'The queue that gets a message `{event, bucket, key, bytes, etag}` for each change, paid as queue.publish; null: none.',
);

const corsHeaderNames = (pattern: string, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: CORS_HEADER_CHARACTERS_MAX, pattern, description: 'A header.' }), {
    maxItems: CORS_VALUES_MAX,
    description,
  });

const corsRule = {
  origins: Type.Array(
    Type.String({
      minLength: 1,
      maxLength: CORS_ORIGIN_CHARACTERS_MAX,
      pattern: ORIGIN_PATTERN,
      description:
        'Scheme, host and port without a path, such as https://app.example.com. `*` once, for any characters.',
    }),
    { minItems: 1, maxItems: CORS_VALUES_MAX, description: 'Pages of these origins may.' },
  ),
  methods: Type.Array(Type.Enum([...CORS_METHODS]), {
    minItems: 1,
    maxItems: CORS_METHODS.length,
    description: 'What they may send.',
  }),
  headers: corsHeaderNames(ALLOWED_HEADER_PATTERN, 'Headers that they may send; `*` once in each. None when absent.'),
  expose: corsHeaderNames(
    EXPOSED_HEADER_PATTERN,
    'Headers of answers that they may read, such as ETag. None when absent.',
  ),
  max_age_seconds: orNull<number>(
    { type: 'integer', minimum: 0, maximum: CORS_SECONDS_MAX },
    'How long a browser remembers the rule; null: as it likes.',
  ),
};
const CORS =
  'Pages of other origins that may use the objects, each call with its signature. The first rule that fits is answered; an empty list: none may.';

export const corsField = Type.Array(Type.Object(corsRule, { description: 'A rule.' }), {
  maxItems: CORS_RULES_MAX,
  description: CORS,
});

export const sentCorsField = Type.Array(
  Type.Object(
    {
      ...corsRule,
      headers: Type.Optional(corsRule.headers),
      expose: Type.Optional(corsRule.expose),
      max_age_seconds: Type.Optional(corsRule.max_age_seconds),
    },
    { description: 'A rule.' },
  ),
  { maxItems: CORS_RULES_MAX, description: CORS },
);

export const LINK_SECONDS = 3_600;
/** Longer contents are answered as a link. */
export const INLINE_BYTES_MAX = 1024 * 1024;
export const CONTENT_BYTES_MAX = 4 * 1024 * 1024;
export const EXPIRES_SECONDS_MAX = 604_800;
