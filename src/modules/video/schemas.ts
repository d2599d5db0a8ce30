// Fields and records of the video operations.
import Type from 'typebox';
import { aspectRatios, jobStates, operations, resolutions } from './jobs/row.ts';
import {
  LINK_SECONDS,
  LINK_SECONDS_MAX,
  LINK_SECONDS_MIN,
  NEGATIVE_PROMPT_CHARACTERS_MAX,
  PROMPT_CHARACTERS_MAX,
  RETENTION_DAYS,
  RETENTION_DAYS_MAX,
  SECONDS_MAX,
  SECONDS_MIN,
  SEED_MAX,
} from './limits.ts';

const orNull = <T>(schema: Record<string, unknown>, description: string) =>
  Type.Unsafe<T | null>({ ...schema, type: [schema.type as string, 'null'], description });
const textOrNull = (description: string) => orNull<string>({ type: 'string' }, description);
const wholeOrNull = (description: string) => orNull<number>({ type: 'integer', minimum: 0 }, description);
const numberOrNull = (description: string) => orNull<number>({ type: 'number', minimum: 0 }, description);
const instant = (description: string) => Type.String({ format: 'date-time', description });
const instantOrNull = (description: string) => orNull<string>({ type: 'string', format: 'date-time' }, description);

export const jobIdField = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Id of the job, `vid_…`, as generate answers it.',
});

const modelField = Type.Optional(
  orNull<string>(
    { type: 'string', minLength: 1, maxLength: 200 },
    '`auto` (the same as null), `cheapest`, `smartest`, or a model of GET /v1/video/capabilities: `vendor/model` pins the vendor, ' +
      'a bare `model` is served by any vendor that has it.',
  ),
);
const vendorField = Type.Optional(
  orNull<string>(
    { type: 'string', minLength: 1, maxLength: 40 },
    'Pins the vendor; it is not left for another one then.',
  ),
);
const seedField = Type.Optional(
  orNull<number>(
    { type: 'integer', minimum: 0, maximum: SEED_MAX },
    'The same request with the same seed looks alike, where the model can; null: any.',
  ),
);
const storeField = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'True keeps the video for retention_days, for which storage is charged in advance; false keeps it for a day, for nothing.',
  }),
);
const retentionField = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: RETENTION_DAYS_MAX,
    description: `How long a stored video is kept, days; ${RETENTION_DAYS} when not sent. Only with store: true.`,
  }),
);
const webhookField = Type.Optional(
  orNull<string>(
    { type: 'string', minLength: 1, maxLength: 2_048 },
    'https URL that is told of the end of this job: the event video.job.completed or video.job.failed, signed as webhooks are.',
  ),
);
const promptField = Type.String({
  minLength: 1,
  maxLength: PROMPT_CHARACTERS_MAX,
  description: 'What the video shows, in words.',
});
const durationField = Type.Optional(
  Type.Integer({
    minimum: SECONDS_MIN,
    maximum: SECONDS_MAX,
    default: 5,
    description: 'Length in seconds, 1 to 60; models have limits of their own, see GET /v1/video/capabilities.',
  }),
);
const SHORT_SIDE = 'Short side of the picture: 720, 1080 or 2160 pixels.';
const resolutionField = Type.Enum([...resolutions], { description: SHORT_SIDE });
const common = {
  model: modelField,
  vendor: vendorField,
  store: storeField,
  retention_days: retentionField,
  webhook_url: webhookField,
};

export const generateFields = {
  prompt: promptField,
  negative_prompt: Type.Optional(
    orNull<string>(
      { type: 'string', maxLength: NEGATIVE_PROMPT_CHARACTERS_MAX },
      'What is not to be seen. A model that does not take it ignores it, with a warning.',
    ),
  ),
  duration_seconds: durationField,
  resolution: Type.Optional(Type.Enum([...resolutions], { default: '720p', description: SHORT_SIDE })),
  aspect_ratio: Type.Optional(
    Type.Enum([...aspectRatios], { default: '16:9', description: 'Aspect ratio, width to height.' }),
  ),
  seed: seedField,
  reference_image: Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1 },
      'JPEG, PNG or WebP that opens the video: an https URL, a data URL or base64. 64 to 8,192 pixels a side, at most 10 MiB.',
    ),
  ),
  cross_region: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'True: vendors of another region than that of this service may be asked too.',
    }),
  ),
  ...common,
};

export const extendFields = {
  prompt: Type.Optional(promptField),
  duration_seconds: Type.Optional(
    Type.Integer({
      minimum: SECONDS_MIN,
      maximum: SECONDS_MAX,
      default: 5,
      description: 'Seconds to be added, 1 to 60.',
    }),
  ),
  seed: seedField,
  ...common,
};

export const upscaleFields = { resolution: resolutionField, ...common };

const failoverSchema = Type.Object(
  {
    primary_vendor: Type.String({ description: 'The vendor that would have worked.' }),
    actual_vendor: Type.String({ description: 'The vendor that worked.' }),
    primary_model: Type.String({ description: 'Its model.' }),
    actual_model: Type.String({ description: 'Its model.' }),
    cost_at_primary: Type.Number({ description: 'Quote of the first, USD.' }),
    cost_at_actual: Type.Number({ description: 'Quote of the one that worked, USD.' }),
    cost_multiplier: Type.Number({ description: 'The second quote as a multiple of the first.' }),
    failover_reason: Type.String({ description: 'Why the first was left.' }),
    fallback_chain_depth: Type.Integer({ description: 'How many vendors were left behind.' }),
  },
  { description: 'Only when another vendor was to be asked first.' },
);

export const workSchema = Type.Object(
  {
    request_id: Type.String({ description: 'The call that made the job.' }),
    trace_id: Type.String({ description: 'Its trace.' }),
    timestamp: instant('When the job was accepted.'),
    latency_ms: Type.Integer({ description: 'From then to its end, or to now.' }),
    entry_form: Type.String({ description: 'How the call came.' }),
    cost_usd: Type.Number({ description: 'What the job cost; 0 until it is settled.' }),
    cost_cny: Type.Number({ description: 'The same in CNY.' }),
    vendor: Type.String({ description: 'The vendor that works.' }),
    vendor_region: Type.String({ description: 'Its region.' }),
    markup_pct: Type.Number({ description: 'Share added to its price.' }),
    cache_layer: Type.String({ description: '`none`.' }),
    edge_pop: Type.String({ description: '`local`.' }),
    worker_id: Type.String({ description: 'The process that took the latest step of the job.' }),
    idempotent_replay: Type.Boolean({ description: 'False.' }),
    failover_info: Type.Optional(failoverSchema),
  },
  { description: 'How the work is done. Only once a vendor works on it.' },
);

export const webhookSchema = Type.Object({
  url: Type.String({ description: 'Where the end of the job is told.' }),
  status: Type.String({ description: '`waiting` for the end, `pending`, `succeeded` or `failed`.' }),
  attempts: Type.Integer({ description: 'Attempts made.' }),
});

const errorSchema = Type.Unsafe<{ readonly code?: string; readonly message?: string } | null>({
  type: ['object', 'null'],
  description:
    'Why it failed: code, http_status, message, docs_url, retryable, and code_detail where there is one. Null but when failed.',
});

export const cancelSchema = Type.Object(
  {
    vendor_stopped: Type.Enum(['yes', 'requested', 'impossible'], {
      description: 'Whether the vendor stopped working.',
    }),
    may_be_charged: Type.Boolean({
      description: 'Whether the vendor may yet bill what it has done; then the job costs that.',
    }),
  },
  { description: 'How the cancel stands; only of a cancelled job.' },
);

export const jobFields = {
  job_id: Type.String({ description: 'Id of the job.' }),
  operation: Type.Enum([...operations], { description: 'What made it.' }),
  state: Type.Enum([...jobStates], {
    description: 'Queued and running jobs are live; the others have ended for good.',
  }),
  model: Type.String({ description: '`vendor/model` that works, or is the first to be asked.' }),
  vendor: Type.String({ description: 'The vendor of the model.' }),
  prompt: Type.String({ description: 'As it was sent; empty once the video is gone.' }),
  duration_seconds: Type.Integer({ description: 'Length of the video.' }),
  aspect_ratio: Type.String({ description: 'Aspect ratio, width to height.' }),
  resolution: Type.String({ description: '`720p`, `1080p` or `4k`.' }),
  seed: wholeOrNull('As it was sent.'),
  store: Type.Boolean({ description: 'Whether the video is stored for retention_days.' }),
  video_url: textOrNull('Link to the video, for an hour; null while there is none, or none any more.'),
  thumbnail_url: textOrNull('Link to a picture of it, likewise.'),
  cost_usd: numberOrNull('What it cost, storage included; null until it is settled.'),
  created_at: instant('When it was accepted.'),
  finished_at: instantOrNull('When it ended.'),
  retention_days: wholeOrNull('How long the video is kept; 0: for its pick-up only.'),
  parent_job_id: textOrNull('The job whose video this one extends or enlarges.'),
  error: errorSchema,
  end_reason: textOrNull('`deadline`, `vendor_expired` or `cancelled`; null otherwise.'),
  cancel: Type.Optional(cancelSchema),
  extend_mode: textOrNull('Of an extension: `stitched` behind its parent, or a `continuation`.'),
  warnings: Type.Array(Type.String(), { description: 'What the model did not take, and what is odd about the video.' }),
  width: wholeOrNull('Pixels.'),
  height: wholeOrNull('Pixels.'),
  size_bytes: wholeOrNull('Bytes of the video.'),
  expires_at: instantOrNull('When the video goes.'),
  webhooks: Type.Array(webhookSchema, { description: 'Who is told of the end.' }),
  metadata: Type.Optional(workSchema),
};

export const jobSchema = Type.Object(jobFields, { title: 'VideoJob' });

export const statusSchema = Type.Object({
  job_id: jobFields.job_id,
  state: jobFields.state,
  progress_pct: orNull<number>({ type: 'integer', minimum: 0, maximum: 100 }, 'How much is done; null when unknown.'),
  eta_seconds: wholeOrNull('When it should be done; null when unknown.'),
  current_step: textOrNull('What is being done.'),
});

export const expiresInField = Type.Optional(
  Type.Integer({
    minimum: LINK_SECONDS_MIN,
    maximum: LINK_SECONDS_MAX,
    default: LINK_SECONDS,
    description: 'How long the link works, seconds.',
  }),
);
export const stateFilter = Type.Optional(Type.Enum([...jobStates], { description: 'Only jobs in this state.' }));
export const textFilter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));
export const cursorField = Type.Optional(
  Type.String({ minLength: 1, maxLength: 4096, description: 'next_cursor of the page before, with the same filters.' }),
);
export const limitField = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Entries a page, 1 to 100; 20 when not sent.' }),
);
export const jobPage = Type.Object({
  items: Type.Array(jobSchema, { description: 'This page.' }),
  next_cursor: textOrNull('Send it as cursor to get the next page; null at the end.'),
  has_more: Type.Boolean({ description: 'Whether there is a next page.' }),
});
