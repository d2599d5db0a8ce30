// Schemas of what errors.capture and errors.message take.
import Type, { type Static } from 'typebox';
import { breadcrumbLevels, environments, LABEL_CHARACTERS_MAX, levels, NAME_CHARACTERS_MAX } from './limits.ts';
import { objectOrNull, orNull, textOrNull } from './schema-forms.ts';

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
}

export interface ExceptionInput {
  readonly type?: string | null;
  readonly value?: string | null;
  readonly stacktrace?: readonly FrameInput[] | string | null;
}

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
    in_app: orNull<boolean>({ type: 'boolean' }, 'Whether it is your own code; true when not sent.'),
    context_pre: lines('Lines before it, up to 5.'),
    context_line: textOrNull('The line itself.'),
    context_post: lines('Lines behind it, up to 5.'),
    vars: objectOrNull('Local variables.'),
  },
  additionalProperties: true,
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
  },
  additionalProperties: true,
});

const breadcrumb = Type.Object(
  {
    at: Type.Optional(orNull<string>({ type: 'string', format: 'date-time' }, 'When; now when not sent.')),
    category: Type.Optional(textOrNull('Such as http or ui.')),
    message: Type.Optional(textOrNull('What happened.')),
    level: Type.Optional(
      orNull<(typeof breadcrumbLevels)[number]>({ type: 'string', enum: breadcrumbLevels }, 'How grave.'),
    ),
    data: Type.Optional(objectOrNull('Anything more.')),
  },
  { additionalProperties: true, description: 'Something that happened before the error.' },
);

const label = (description: string) =>
  Type.Optional(orNull<string>({ type: 'string', maxLength: LABEL_CHARACTERS_MAX }, description));

const about = {
  tags: Type.Optional(
    Type.Unsafe<Record<string, string> | null>({
      type: ['object', 'null'],
      description: 'Names and texts to search and count by; up to 100.',
      additionalProperties: { type: 'string' },
      propertyNames: { maxLength: NAME_CHARACTERS_MAX },
    }),
  ),
  user_id: label('Whom it happened to; counted in user_count.'),
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
  title: Type.Optional(textOrNull('Headline of the event; the first 120 characters of the message when not sent.')),
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
