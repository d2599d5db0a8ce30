// Fields and records of the cron operations.

import Type, { type Static, type TObject } from 'typebox';
import { instant, instantOrNull, orNull, textOrNull, timeoutField, whole, wholeOrNull } from '../../kit/fields.ts';
import { alsoNamed } from '../../kit/second-names.ts';
import { jobStatuses, runStatuses } from './jobs/records.ts';
import type { TargetInput } from './jobs/target.ts';
import {
  EXPRESSION_CHARACTERS_MAX,
  NAME_CHARACTERS_MAX,
  NEXT_RUNS,
  PAYLOAD_BYTES_MAX,
  RETRIES_MAX,
  SECRET_CHARACTERS_MAX,
  URL_CHARACTERS_MAX,
} from './limits.ts';

export const jobIdField = alsoNamed(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'Id of the job, `cron_…`, as create and list return it.',
  }),
  'id',
);

// No format: what is wrong with a URL is told by the check of targets, in its own words.
const taskUrl = Type.String({
  minLength: 1,
  maxLength: URL_CHARACTERS_MAX,
  description: 'URL that is POSTed on each run.',
});
export const taskField = alsoNamed(Type.Optional(taskUrl), 'task_url');

const targetField = Type.Unsafe<TargetInput>(
  Type.Object(
    {
      url: Type.Optional(taskUrl),
      queue: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: 'Queue of this account to which each run publishes.',
        }),
      ),
      payload: Type.Optional(
        Type.Unknown({
          description: 'For a queue: a JSON object, which is published byte for byte; {} when not sent.',
        }),
      ),
      capability: Type.Optional(
        Type.String({ minLength: 1, maxLength: 100, description: 'Capability that each run calls, such as ai.chat.' }),
      ),
      input: Type.Optional(
        Type.Unsafe<object>({
          type: 'object',
          writeOnly: true,
          description: 'For a capability: its input, checked now and at each run. It may hold no secret.',
        }),
      ),
      key_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          pattern: '^[A-Za-z0-9_-]+$',
          description:
            'For a queue or capability, by a person: id of the key that the runs call as. A key schedules as itself.',
        }),
      ),
    },
    {
      additionalProperties: false,
      description:
        'What each run calls, in place of task: {url}, {queue, payload} or {capability, input}. A queue or capability is called as the key that ' +
        'made the schedule, with the rights and caps that it has then, at the price of that call.',
    },
  ),
);

export const settingsFields = {
  task: taskField,
  target: Type.Optional(targetField),
  timeout_seconds: Type.Optional(timeoutField('How long one attempt may take')),
  retries: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: RETRIES_MAX,
      description: `How often a run that fails is tried again, 0 to ${RETRIES_MAX}; 0 when not sent. Pauses: 5 s, doubled up to 15 min, or what Retry-After says.`,
    }),
  ),
  name: Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: '^[^\\p{Cc}\\p{Cs}]*$' },
      'Name for people, sent with each run. Need not be unique.',
    ),
  ),
  cron_expr: Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1, maxLength: EXPRESSION_CHARACTERS_MAX },
      'Recurring schedule in five fields: minute, hour, day of month, month, day of week (0 and 7 are Sunday), such as `30 9 * * MON-FRI`. ' +
        'Lists, ranges, steps, names, L, W and # are taken. When both days are given, either may match. Instead of run_at.',
    ),
  ),
  run_at: Type.Optional(
    orNull<string>(
      { type: 'string', format: 'date-time', maxLength: 40 },
      'The one time to run, in the future: date and time with offset, such as 2030-12-24T18:00:00Z. Instead of cron_expr.',
    ),
  ),
  timezone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
      description: 'IANA time zone in which cron_expr is read, such as Europe/Berlin; UTC when never set.',
    }),
  ),
  payload: Type.Optional(
    Type.Unknown({
      description: `Any JSON, up to ${PAYLOAD_BYTES_MAX / 1024} KiB; sent with each run byte for byte as it stands here.`,
    }),
  ),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: 'string' },
      writeOnly: true,
      description:
        'Headers added to each run, name to value; null or empty: none. At most 20, visible ASCII up to 4 KiB each; hop-by-hop, ' +
        'content, cookie and webhook- headers are reserved. Stored encrypted, masked when read.',
    }),
  ),
};

export const secretField = (absent: string) =>
  Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1, maxLength: SECRET_CHARACTERS_MAX, writeOnly: true },
      `Signing secret: \`whsec_\` and base64 of 24 to 64 bytes, or any text of 24 to 64 bytes. ${absent}`,
    ),
  );

export const statusField = Type.Optional(
  Type.Enum([...jobStatuses], { description: 'Only jobs with this status; all when not sent.' }),
);

const runFields = {
  run_id: Type.String({ description: 'Id of the run; its POST carries it as webhook-id, also when it is repeated.' }),
  job_id: Type.String({ description: 'Job it belongs to.' }),
  scheduled_at: instant('The slot: when it was due. Each slot has one run.'),
  started_at: instant('When the run began.'),
  finished_at: instantOrNull('When it ended; null while it is running.'),
  status: Type.Enum([...runStatuses], {
    description:
      '`succeeded`: answered 2xx. `retrying`: failed, and tried again at next_attempt_at. `skipped`: not made and not charged; error_code says why.',
  }),
  trigger: Type.Enum(['schedule', 'manual'], { description: '`manual`: begun by a call of run.' }),
  attempt: Type.Integer({
    description: '0 before the first attempt; above 1 when it was tried again, or repeated because its process died.',
  }),
  retries_left: whole('How often it is tried again if it fails.'),
  next_attempt_at: instantOrNull('When it is tried again; null unless it is retrying.'),
  http_status: wholeOrNull('Status of the answer, of a capability that which REST answers; null when none came.'),
  error_code: textOrNull(
    'Why no answer came: refused, dns, connect, tls, timeout, reset, protocol, interrupted, job_deleted; the code of the error that a capability ' +
      'failed with, such as INSUFFICIENT_SCOPE or QUEUE_NOT_FOUND; or why it was skipped: ' +
      'insufficient_credit, key_cap, budget_daily, budget_monthly, frozen, account_suspended.',
  ),
  latency_ms: wholeOrNull('How long the task took to answer, or to fail.'),
  response_snippet: textOrNull('The first 1 KiB of the answer, without the secrets found in it.'),
  cost_usd: Type.Number({
    description:
      'What it cost, USD: a run of a URL its own price, any other what it called (what an attempt paid whose process died is in the ledger).',
  }),
};

export const runSchema = Type.Object(runFields, { title: 'CronRun' });

const jobFields = {
  job_id: Type.String({ description: 'Id of the job.' }),
  name: textOrNull('Name for people.'),
  task: textOrNull('URL that is POSTed on each run; null: a queue or a capability is called.'),
  task_url: textOrNull('The same as task.'),
  target: Type.Object(
    {
      url: Type.Optional(Type.String({ description: 'URL that is POSTed.' })),
      queue: Type.Optional(Type.String({ description: 'Queue that is published to.' })),
      capability: Type.Optional(Type.String({ description: 'Capability that is called.' })),
      key_id: Type.Optional(Type.String({ description: 'Key that the queue or capability is called as.' })),
    },
    { description: 'What each run calls.' },
  ),
  cron_expr: textOrNull('Recurring schedule; null for a job that runs once.'),
  timezone: Type.String({ description: 'Time zone of cron_expr.' }),
  run_at: instantOrNull('The one time to run; null for a recurring job.'),
  status: Type.Enum([...jobStatuses], { description: '`completed`: it has run for the last time.' }),
  next_run_at: instantOrNull('When it is due next; null when paused or completed.'),
  last_run: Type.Unsafe<Static<TObject<typeof runFields>> | null>({
    type: ['object', 'null'],
    properties: runFields,
    description: 'The latest run as it is now; null before the first one.',
  }),
  timeout_seconds: Type.Integer({ description: 'How long one attempt may take, in seconds.' }),
  retries: Type.Integer({ description: 'How often a run that fails is tried again.' }),
  headers: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Headers added to each run; values are masked.',
  }),
  secret_last4: Type.String({ description: 'Last four characters of the current signing secret.' }),
  created_at: instant('When it was created.'),
  updated_at: instant('When its settings or its status last changed.'),
};

const shownOnce = 'The signing secret, `whsec_…`. It is shown this once; store it where runs are received.';
const payloadField = Type.Unknown({
  description: 'The payload, or the input of the capability, as it was sent, byte for byte; null when none was.',
});

export const jobSummarySchema = Type.Object(jobFields, { title: 'CronJobSummary' });
export const jobSchema = Type.Object({ ...jobFields, payload: payloadField }, { title: 'CronJob' });
export const jobDetailSchema = Type.Object(
  {
    ...jobFields,
    payload: payloadField,
    next_runs: Type.Array(instant('When it runs.'), {
      maxItems: NEXT_RUNS,
      description: `The next ${NEXT_RUNS} runs, the first one first; none while it is paused or completed.`,
    }),
  },
  { title: 'CronJobDetail' },
);
export const createdJobSchema = Type.Object(
  { ...jobFields, secret: Type.String({ description: shownOnce }), payload: payloadField },
  { title: 'CreatedCronJob' },
);
export const updatedJobSchema = Type.Object(
  {
    ...jobFields,
    secret: Type.Optional(Type.String({ description: `${shownOnce} Only there when the call set one.` })),
    payload: payloadField,
  },
  { title: 'UpdatedCronJob' },
);
