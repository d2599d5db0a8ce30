// Input schemas of errors.capture and errors.message.

import Type, { type Static } from 'typebox';
import { orNull, textOrNull } from '../../../kit/fields.ts';
import { breadcrumbLevels, environments, LABEL_CHARACTERS_MAX, levels, NAME_CHARACTERS_MAX } from '../limits.ts';
import { objectOrNull } from '../schemas.ts';

export interface FrameInput {
  readonly func?: string | null;
  readonly file?: string | null;
  readonly line?: number | null;
  readonly col?: number | null;
  readonly in_app?: boolean | null;
  readonly context_pre?: readonly string[] | null;
  readonly context_line?: string | null;
  readonly context_post?: readonly string[] | null;
  readonly vars?: Record<string, unknown> | null;
  readonly function?: string | null;
  readonly filename?: string | null;
  readonly lineno?: number | null;
  readonly colno?: number | null;
  readonly module?: string | null;
}

export interface ExceptionInput {
  readonly type?: string | null;
  readonly value?: string | null;
  readonly stacktrace?: readonly FrameInput[] | string | null;
  readonly message?: string | null;
  readonly stack?: readonly FrameInput[] | string | null;
  readonly module?: string | null;
  readonly mechanism?: Record<string, unknown> | null;
  readonly handled?: boolean | null;
}

/** Taken as texts: a report is not lost because an id is a number. */
type Scalar = string | number | boolean;
const scalarTypes = ['string', 'number', 'boolean', 'null'];

const lines = (description: string) => orNull<string[]>({ type: 'array', items: { type: 'string' } }, description);
const position = (description: string) => orNull<number>({ type: 'integer', minimum: 0 }, description);

const frame = {
  type: 'object',
  description: 'A frame of the stack.',
  properties: {
    func: textOrNull('Function.'),
    file: textOrNull('File.'),
    line: position('Line, from 1; 0 when not known.'),
    col: position('Column.'),
    in_app: orNull<boolean>(
      { type: 'boolean' },
      'Whether it is your own code; when not sent, by its file: packages, such as node_modules, and the runtime are not.',
    ),
    context_pre: lines('Lines before it, up to 5.'),
    context_line: textOrNull('The line itself.'),
    context_post: lines('Lines behind it, up to 5.'),
    vars: objectOrNull('Local variables.'),
    function: textOrNull('The same as func.'),
    filename: textOrNull('The same as file.'),
    lineno: position('The same as line.'),
    colno: position('The same as col.'),
    module: textOrNull('Package and class, or module, of the function.'),
  },
};

const exceptionField = Type.Unsafe<ExceptionInput | string | null>({
  type: ['object', 'string', 'null'],
  description:
    'What was thrown: { type, value, stacktrace: [frames] }, or the text of it, which also becomes the message when none is sent.',
  properties: {
    type: textOrNull('Class, such as TypeError.'),
    value: textOrNull('What it says.'),
    stacktrace: {
      type: ['array', 'string', 'null'],
      description:
        'Frames, the innermost first; of more than 250 the middle is left out. A text is kept as extra.stack.',
      items: frame,
    },
    message: textOrNull('The same as value.'),
    stack: { type: ['array', 'string', 'null'], description: 'The same as stacktrace.', items: frame },
    module: textOrNull('Where the class is from.'),
    mechanism: objectOrNull('How it was caught, such as { type, handled }.'),
    handled: orNull<boolean>(
      { type: 'boolean' },
      'False when the program did not expect it; mechanism.handled when not sent.',
    ),
  },
});

const breadcrumb = Type.Object(
  {
    at: Type.Optional(orNull<string>({ type: 'string', format: 'date-time' }, 'When; now when not sent.')),
    timestamp: Type.Optional(
      Type.Unsafe<string | number | null>({
        type: ['string', 'number', 'null'],
        format: 'date-time',
        description: 'The same as at, or seconds since 1970.',
      }),
    ),
    category: Type.Optional(textOrNull('Such as http or ui.')),
    message: Type.Optional(textOrNull('What happened.')),
    level: Type.Optional(
      orNull<(typeof breadcrumbLevels)[number]>({ type: 'string', enum: breadcrumbLevels }, 'How grave.'),
    ),
    data: Type.Optional(objectOrNull('Anything more.')),
  },
  { description: 'Something that happened before the error.' },
);

const label = (description: string) =>
  Type.Optional(Type.Unsafe<Scalar | null>({ type: scalarTypes, maxLength: LABEL_CHARACTERS_MAX, description }));

const about = {
  tags: Type.Optional(
    Type.Unsafe<Record<string, Scalar | null> | null>({
      type: ['object', 'null'],
      description: 'Names and texts to search and count by; up to 100. Numbers and booleans are taken as texts.',
      additionalProperties: { type: scalarTypes },
      propertyNames: { maxLength: NAME_CHARACTERS_MAX },
    }),
  ),
  user_id: label(
    'Whom it happened to; counted in user_count. When not sent: user.id, else a hash of user.email or user.ip, which are not stored.',
  ),
  release: label('Version of your software.'),
  environment: Type.Optional(
    orNull<(typeof environments)[number]>({ type: 'string', enum: environments }, 'Where it happened.'),
  ),
};

const levelField = (fallback: string) =>
  Type.Optional(
    orNull<(typeof levels)[number]>({ type: 'string', enum: levels }, `How grave it is; ${fallback} when not sent.`),
  );

export const captureSchema = Type.Object({
  title: Type.Optional(
    textOrNull('Headline of the event; the first 120 characters of the message, else of `type: value`, when not sent.'),
  ),
  message: Type.Optional(textOrNull('What went wrong. Groups the event when no fingerprint is sent.')),
  exception: Type.Optional(exceptionField),
  level: levelField('error'),
  ...about,
  fingerprint: Type.Optional(
    Type.Unsafe<string | string[] | null>({
      type: ['string', 'array', 'null'],
      items: { type: 'string' },
      description:
        'Events with the same fingerprint are one group. In a list `{{ default }}` stands for what groups the event otherwise.',
    }),
  ),
  breadcrumbs: Type.Optional(
    Type.Unsafe<Static<typeof breadcrumb>[] | null>({
      type: ['array', 'null'],
      items: breadcrumb,
      description: 'What happened before, the latest last; the latest 100 are kept.',
    }),
  ),
  context: Type.Optional(objectOrNull('Anything known about the surroundings.')),
  extra: Type.Optional(objectOrNull('Anything else.')),
  service: Type.Optional(textOrNull('Which of your services; stored as context.service.')),
  code: Type.Optional(textOrNull('Your own error code; stored as extra.code.')),
  stack: Type.Optional(textOrNull('The stack as text; stored as extra.stack.')),
  sdk: Type.Optional(objectOrNull('What reports, such as { name, version }.')),
  runtime: Type.Optional(objectOrNull('What it runs on, such as { name, version }.')),
  request: Type.Optional(objectOrNull('The request that failed, such as { method, url, headers }; scrubbed.')),
  user: Type.Optional(objectOrNull('More about the user than user_id; scrubbed.')),
});

export const messageSchema = Type.Object({
  text: Type.String({
    minLength: 1,
    description: 'What to report. It is the message and, cut to 120 characters, the title.',
  }),
  level: levelField('info'),
  ...about,
});
export type MessageInput = Static<typeof messageSchema>;
