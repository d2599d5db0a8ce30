// Schema fields of alerts.
import Type, { type Static, type TSchema } from 'typebox';
import type { AlertSource } from '../../kit/alert-source.ts';
import { instant, instantOrNull, orNull, plainText, plainTextOrNull, textOrNull, whole } from '../../kit/fields.ts';
import { patternWithWords } from '../../lib/pattern-words.ts';
import {
  BY_MAX,
  DETAILS_CHARACTERS_MAX,
  EVERY_SECONDS,
  FOR_SECONDS_MAX,
  LABEL_CHARACTERS_MAX,
  LABELS_MAX,
  NOTIFY_MAX,
  REPEAT_SECONDS,
  TITLE_CHARACTERS_MAX,
  URL_CHARACTERS_MAX,
} from './limits.ts';

const WEB_ADDRESS = patternWithWords('^https?://[^\\s]+$', 'must be an address that begins with http:// or https://');

const LINES = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f\\p{Cs}]*$';

export const states = ['ok', 'pending', 'firing', 'unknown'] as const;
export type State = (typeof states)[number];
export const severities = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];

export const ruleField = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]*$',
  description: 'Name of the rule: letters, digits and _ . : -',
});

export const labelsField = Type.Record(
  Type.String(),
  Type.String({ maxLength: LABEL_CHARACTERS_MAX, pattern: '^[^\\p{Cc}\\p{Cs}]*$' }),
  { maxProperties: LABELS_MAX, description: `Labels of the rule, ${LABELS_MAX} at most: {"team": "shop"}.` },
);

const notifyTarget = Type.Object(
  {
    email: Type.Optional(
      Type.String({
        maxLength: 254,
        description: "An address that is confirmed for the account: the account's own, or one of its people's.",
      }),
    ),
    url: Type.Optional(
      Type.String({
        maxLength: URL_CHARACTERS_MAX,
        description: 'A public https URL that gets a signed POST, as webhooks do.',
      }),
    ),
    queue: Type.Optional(
      Type.String({ minLength: 1, maxLength: 80, description: 'A queue of the account. A notice is a message.' }),
    ),
    slack_url: Type.Optional(
      Type.String({
        maxLength: URL_CHARACTERS_MAX,
        writeOnly: true,
        description: 'An incoming webhook of Slack, Mattermost, or Discord (with /slack). Answers show it masked.',
      }),
    ),
  },
  { minProperties: 1, maxProperties: 1 },
);
export const notifyField = Type.Array(notifyTarget, {
  maxItems: NOTIFY_MAX,
  description: `Whom it tells, ${NOTIFY_MAX} at most, each one of email, url, queue and slack_url.`,
});
export type SentNotify = Static<typeof notifyTarget>;

const number = (description: string) => orNull<number>({ type: 'number' }, description);

/** What decides whether a series fires; what is set, and what is tried. */
export function conditionFields(sources: readonly AlertSource[]) {
  const fields: Record<string, TSchema> = Object.fromEntries(
    sources.map(({ name, schema }) => [name, Type.Optional(schema)]),
  );
  return {
    when: Type.Unsafe<Readonly<Record<string, unknown>>>({
      ...Type.Object(fields, { minProperties: 1, maxProperties: 1 }),
      description: 'What is looked at: exactly one of these.',
    }),
    above: Type.Optional(number('Fires while the value is above this.')),
    below: Type.Optional(number('Fires while the value is below this. Without either: above 0.')),
    for_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: FOR_SECONDS_MAX,
        default: 0,
        description: 'How long it must hold before it fires; until then it is pending. 0 when not sent.',
      }),
    ),
    keep_firing_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: FOR_SECONDS_MAX,
        default: 0,
        description: 'How long it fires on once it does not hold any more. 0 when not sent.',
      }),
    ),
    every_seconds: Type.Optional(
      Type.Integer({
        minimum: EVERY_SECONDS.min,
        maximum: EVERY_SECONDS.max,
        default: EVERY_SECONDS.usual,
        description: `It is looked at at each multiple of so many seconds; ${EVERY_SECONDS.usual} when not sent.`,
      }),
    ),
    by: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        maxItems: BY_MAX,
        uniqueItems: true,
        description: 'Labels: each of their values is a series of its own, which fires and ends by itself.',
      }),
    ),
  };
}

export const settingFields = {
  title: Type.Optional(
    plainTextOrNull(
      TITLE_CHARACTERS_MAX,
      'What notices say first; {{ $labels.NAME }} and {{ $value }} are filled in. Null: its name.',
    ),
  ),
  details: Type.Optional(
    orNull<string>(
      { type: 'string', maxLength: DETAILS_CHARACTERS_MAX, pattern: LINES },
      'What notices say below the title, filled in alike; null: nothing.',
    ),
  ),
  severity: Type.Optional(
    Type.Enum([...severities], { default: 'warning', description: 'How grave it is; warning when not sent.' }),
  ),
  labels: Type.Optional(labelsField),
  runbook_url: Type.Optional(
    orNull<string>(
      { type: 'string', maxLength: URL_CHARACTERS_MAX, pattern: WEB_ADDRESS },
      'Where it says what to do; null: nowhere.',
    ),
  ),
  notify: Type.Optional(notifyField),
  repeat_seconds: Type.Optional(
    orNull<number>(
      { type: 'integer', minimum: REPEAT_SECONDS.min, maximum: REPEAT_SECONDS.max },
      'While it fires it is told again after so long; null: once.',
    ),
  ),
};

const anyLabels = (description: string) => Type.Record(Type.String(), Type.String(), { description });
const stateField = (description: string) => Type.Enum([...states], { description });
const value = number('The value that decides; null: there is none, or it is no finite number.');

export const seriesSchema = Type.Object({
  labels: anyLabels('What tells it from the others.'),
  state: stateField('Its state.'),
  since: instant('Since when it is in it.'),
  value,
});

const shownNotify = Type.Object({
  email: Type.Optional(Type.String({ description: 'An address.' })),
  url: Type.Optional(Type.String({ description: 'A URL.' })),
  queue: Type.Optional(Type.String({ description: 'A queue.' })),
  slack_url: Type.Optional(Type.String({ description: 'Masked. Sent as it is here, it stays what it was.' })),
});

const standing = {
  state: stateField('firing if any series fires, else pending if any is; unknown: it could not be looked at.'),
  since: instant('Since when.'),
  value,
  series: Type.Array(seriesSchema, { description: 'At most 100, those that fire first.' }),
  more_series: whole('Series beyond these, which have no state: a rule has at most 100.'),
  words: textOrNull('Why it is unknown, or what else to know of it; null: nothing.'),
  silenced_until: instantOrNull('Until when it tells nothing; null: it tells.'),
};

export const ruleSchema = Type.Object(
  {
    rule: Type.String({ description: 'Name of the rule.' }),
    title: textOrNull('What notices say first; null: its name.'),
    when: Type.Object({}, { additionalProperties: true, description: 'What is looked at, as it was set.' }),
    above: number('Fires while the value is above this; null: not asked.'),
    below: number('Fires while the value is below this; null: not asked.'),
    details: textOrNull('What notices say below the title; null: nothing.'),
    for_seconds: whole('How long it must hold before it fires.'),
    keep_firing_seconds: whole('How long it fires on once it does not hold any more.'),
    every_seconds: whole('It is looked at at each multiple of so many seconds.'),
    by: Type.Array(Type.String(), { description: 'Labels whose values are series.' }),
    severity: Type.Enum([...severities], { description: 'How grave it is.' }),
    labels: anyLabels('Labels of the rule.'),
    runbook_url: textOrNull('Where it says what to do.'),
    notify: Type.Array(shownNotify, { description: 'Whom it tells.' }),
    repeat_seconds: orNull<number>({ type: 'integer' }, 'While it fires it is told again after so long; null: once.'),
    ...standing,
    looked_at: instantOrNull('The step of the last look; null: none yet.'),
    took_ms: Type.Number({ minimum: 0, description: 'How long the last look took.' }),
    version: Type.Integer({ minimum: 1, description: 'Grows with each change.' }),
    created_at: instant('When it was made.'),
    updated_at: instant('When it was changed last.'),
  },
  { title: 'Rule' },
);

export const alertSchema = Type.Object(
  {
    rule: Type.String({ description: 'Name of the rule.' }),
    title: textOrNull('What notices say first; null: its name.'),
    severity: Type.Enum([...severities], { description: 'How grave it is.' }),
    labels: anyLabels('Labels of the rule.'),
    runbook_url: textOrNull('Where it says what to do.'),
    ...standing,
  },
  { title: 'Alert' },
);

export const changedSeriesSchema = Type.Object({
  labels: anyLabels('What tells it from the others.'),
  state_before: stateField('Its state before.'),
  state: stateField('Its state since.'),
  value,
});

export const changeSchema = Type.Object(
  {
    at: instant('The step at which it changed.'),
    state_before: stateField('State of the rule before.'),
    state: stateField('State of the rule since.'),
    value,
    series: Type.Array(changedSeriesSchema, { description: 'Series that changed.' }),
    notices: whole('Notices that were sent for it.'),
    words: textOrNull('Why, or what was not told; null: nothing to say.'),
  },
  { title: 'Change' },
);

export const untilField = instantOrNull('Until when; null ends the silence.');
export const silenceWords = plainText(500, 'Why.');
