// Schemas of the module's answers (specification, "Error event", "Error group").

import Type from 'typebox';
import { instant, instantOrNull, orNull, pageFields, textOrNull, whole } from '../../kit/fields.ts';
import type { ExceptionRecord } from './intake/draft.ts';
import { environments, levels } from './limits.ts';

export const objectOrNull = (description: string) =>
  orNull<Record<string, unknown>>({ type: 'object', additionalProperties: true }, description);

const EVENT_ID = '^evt_err_[A-Za-z0-9]{20,}$';
const GROUP_ID = '^errgrp_[A-Za-z0-9]{20,}$';

export const eventIdField = Type.String({ minLength: 1, maxLength: 200, description: 'Id of the event.' });
export const groupIdField = Type.String({ minLength: 1, maxLength: 200, description: 'Id of the group.' });

const groupId = Type.String({ pattern: GROUP_ID, description: 'Group of the event.' });
const fingerprint = Type.String({ pattern: '^[a-f0-9]{64}$', description: 'SHA-256 of what groups the event.' });
const dashboard = Type.String({ format: 'uri', description: 'Page to look at in a browser.' });
const level = Type.Enum([...levels], { description: 'How grave it is.' });
const numbersByName = (description: string) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description });

export const captureResultSchema = Type.Object(
  {
    event_id: Type.String({ pattern: EVENT_ID, description: 'The event that was stored.' }),
    fingerprint,
    error_group_id: groupId,
    is_new_group: Type.Boolean({ description: 'Whether it is the first event of its group.' }),
    reopened: Type.Boolean({ description: 'Whether its group was resolved and is no longer.' }),
    dashboard_url: dashboard,
  },
  { title: 'CaptureResult' },
);

const summaryFields = {
  event_id: Type.String({ pattern: EVENT_ID, description: 'Id of the event.' }),
  fingerprint,
  error_group_id: groupId,
  timestamp: instant('When it happened.'),
  level,
  title: Type.String({ description: 'Headline.' }),
  message: textOrNull('What went wrong; lists show the first 10,000 characters.'),
  environment: orNull<string>({ type: 'string', enum: [...environments] }, 'Where it happened.'),
  release: textOrNull('Version of the software.'),
  user_id: textOrNull('Whom it happened to.'),
  tags: Type.Record(Type.String(), Type.String(), { description: 'Names and texts.' }),
  is_resolved: Type.Boolean({ description: 'Whether its group is resolved.' }),
  is_ignored: Type.Boolean({ description: 'Whether its group is ignored.' }),
  dashboard_url: dashboard,
};
const neighbourFields = {
  previous_event_id: textOrNull('The event of the group before this one.'),
  next_event_id: textOrNull('The event of the group after this one.'),
};

const exceptionSchema = Type.Unsafe<ExceptionRecord | null>({
  type: ['object', 'null'],
  description:
    'What was thrown: { type, value, stacktrace[] }, the innermost frame first; module, mechanism and handled when they were sent. A Sentry SDK also sends `chain`, the exceptions behind it.',
  properties: {
    type: { type: 'string' },
    value: { type: 'string' },
    module: { type: 'string', description: 'Where its class is from.' },
    mechanism: { type: 'object', description: 'How it was caught.' },
    handled: { type: 'boolean', description: 'False: the program did not expect it.' },
    stacktrace: {
      type: 'array',
      description: 'Frames; with module and, of native code, instruction_addr when they were sent.',
    },
  },
  required: ['type', 'value', 'stacktrace'],
});

export const eventSchema = Type.Object(
  {
    ...summaryFields,
    exception: exceptionSchema,
    breadcrumbs: Type.Array(
      Type.Object({
        at: Type.String(),
        category: Type.String(),
        message: Type.String(),
        level: textOrNull('How grave.'),
        data: objectOrNull('Anything more.'),
      }),
      { description: 'What happened before, the latest last.' },
    ),
    context: Type.Object({}, { additionalProperties: true, description: 'Surroundings.' }),
    extra: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Anything else; code and stack stand here.',
    }),
    idempotency_key: textOrNull('Key that the event was captured with.'),
    sdk: objectOrNull('What reported it.'),
    runtime: objectOrNull('What it ran on.'),
    request: objectOrNull('The request that failed.'),
    user: objectOrNull('More about the user.'),
    fingerprint_source: Type.Enum(['default', 'user', 'rule'], { description: 'What decided the group.' }),
    received_at: instant('When it was received.'),
    group_first_seen_at: instant('First event of the group.'),
    group_last_seen_at: instant('Latest event of the group.'),
    group_count: whole('Events of the group.'),
    group_user_count: whole('Users of the group.'),
    ...neighbourFields,
  },
  { title: 'ErrorEvent' },
);

const totals = {
  total: whole('How many there are. Searches and filters that no counter knows are counted to 10,000.'),
  total_capped: Type.Optional(Type.Boolean({ description: 'True when there are more than total says.' })),
};

export const eventPageSchema = Type.Object({
  items: Type.Array(Type.Object(summaryFields), { description: 'This page, newest first.' }),
  ...pageFields,
  ...totals,
});

export const groupEventPageSchema = Type.Object({
  items: Type.Array(Type.Object({ ...summaryFields, ...neighbourFields }), { description: 'This page, newest first.' }),
  ...pageFields,
  ...totals,
});

const groupFields = {
  error_group_id: groupId,
  fingerprint,
  title: Type.String({ description: 'Title of the first event.' }),
  exception_type: textOrNull('Type of the exception, such as TypeError; null: it was none, or has no type.'),
  first_seen_at: instant('First event.'),
  last_seen_at: instant('Latest event.'),
  count: Type.Integer({ minimum: 1, description: 'Events since the first one, those past retention included.' }),
  user_count: whole('Distinct users, exact.'),
  level,
  is_resolved: Type.Boolean({ description: 'Resolved, until a new event comes.' }),
  is_ignored: Type.Boolean({ description: 'Ignored: counted, but nothing is told.' }),
  reopened_at: instantOrNull(
    'When a new event reopened it after it was resolved (a regression); null: it did not, or was resolved again.',
  ),
  assigned_to: textOrNull('Who looks after it.'),
  sample_event_id: orNull<string>(
    { type: 'string', pattern: EVENT_ID },
    'The latest event; null once it is past retention.',
  ),
  environments: Type.Array(Type.String(), { description: 'Where it happened, the most frequent first.' }),
  releases: Type.Array(Type.String(), { description: 'In which releases, the most frequent first; up to 100.' }),
  trend_24h: Type.Object(
    {
      current: whole('Events of the 24 clock hours that end with the running one.'),
      previous: whole('Events of the 24 before.'),
      change_pct: orNull<number>({ type: 'number' }, 'Change in percent; null when there were none before.'),
    },
    { description: 'The last day against the one before.' },
  ),
  sparkline: Type.Array(Type.Integer({ minimum: 0 }), {
    description: 'Events of 24 clock hours, the running one last.',
  }),
  dashboard_url: dashboard,
};

const groupSchema = Type.Object(groupFields, { title: 'ErrorGroup' });

export const groupPageSchema = Type.Object({
  items: Type.Array(groupSchema, { description: 'This page.' }),
  groups: Type.Array(groupSchema, { description: 'The same as items.' }),
  ...pageFields,
  total: whole('How many groups there are with this status.'),
});

export const groupDetailSchema = Type.Object(
  {
    ...groupFields,
    representative_event: Type.Union([eventSchema, Type.Null()], { description: 'The latest event in full.' }),
    tag_distribution: numbersByName('Events by `name:value`; beyond 100 values of a name `name:(other)`.'),
    user_distribution: numbersByName('Events by user: the top 100, (other) and (none).'),
    release_distribution: numbersByName('Events by release: the top 100, (other) and (none).'),
    environment_distribution: numbersByName('Events by environment, and (none).'),
    timeline: Type.Array(Type.Object({ ts: instant('Start of the hour.'), count: whole('Events.') }), {
      description: 'The sparkline with its hours.',
    }),
    comments: Type.Array(
      Type.Object({
        comment_id: Type.String({ description: 'Id.' }),
        text: Type.String({ description: 'What was said.' }),
        key_id: Type.String({ description: 'Key that said it.' }),
        created_at: instant('When.'),
      }),
      { description: 'The latest 100, newest first.' },
    ),
    activity_log: Type.Array(
      Type.Object({
        activity_id: Type.String({ description: 'Id.' }),
        type: Type.Enum(['resolved', 'unresolved', 'reopened', 'ignored', 'unignored', 'assigned', 'commented'], {
          description: 'What was done; reopened: by a new event.',
        }),
        key_id: textOrNull('Key that did it; null when an event did.'),
        assigned_to: textOrNull('To whom; null for nobody.'),
        comment_id: textOrNull('The comment.'),
        event_id: textOrNull('The event that reopened the group.'),
        created_at: instant('When.'),
      }),
      { description: 'The latest 100, newest first.' },
    ),
  },
  { title: 'ErrorGroupDetail' },
);
