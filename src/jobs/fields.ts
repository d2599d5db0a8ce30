// Schema fields shared by jobs of all kinds: of calls, and of records.
import Type from 'typebox';
import { expiresField, instant, instantOrNull, numberOrNull, orNull, textOrNull, wholeOrNull } from '../kit/fields.ts';
import { alsoNamed } from '../kit/second-names.ts';
import { LINK_SECONDS, LINK_SECONDS_MAX, LINK_SECONDS_MIN, RETENTION_DAYS, RETENTION_DAYS_MAX } from './limits.ts';
import { jobStates } from './row.ts';

/** `prefix`: `vid_`. */
export const jobIdFieldOf = (prefix: string) =>
  alsoNamed(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z0-9_-]+$',
      description: `Id of the job, \`${prefix}…\`, as generate answers it.`,
    }),
    'id',
  );

/** Fields of every call that makes something: `name` is that of the module. */
export const commonFieldsOf = (name: string) => ({
  model: Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1, maxLength: 200 },
      `\`auto\` (the same as null), \`cheapest\`, \`smartest\`, or a model of GET /v1/${name}/capabilities: \`vendor/model\` pins the vendor, ` +
        'a bare `model` is served by any vendor that has it.',
    ),
  ),
  vendor: Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1, maxLength: 40 },
      'Pins the vendor; it is not left for another one then.',
    ),
  ),
  store: Type.Optional(
    Type.Boolean({
      default: false,
      description: `True keeps the ${name} for retention_days, for which storage is charged in advance; false keeps it for a day, for nothing.`,
    }),
  ),
  retention_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: RETENTION_DAYS_MAX,
      description: `How long a stored ${name} is kept, days; ${RETENTION_DAYS} when not sent. Only with store: true.`,
    }),
  ),
  webhook_url: Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1, maxLength: 2_048 },
      `https URL that is told of the end of this job: the event ${name}.job.completed or ${name}.job.failed, signed as webhooks are.`,
    ),
  ),
});

export const crossRegionField = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'True: vendors of another region than that of this service may be asked too.',
  }),
);

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

/** What `standing` of record.ts answers. */
export const standingFieldsOf = (name: string) => ({
  job_id: Type.String({ description: 'Id of the job.' }),
  state: Type.Enum([...jobStates], {
    description: 'Queued and running jobs are live; the others have ended for good.',
  }),
  model: Type.String({ description: '`vendor/model` that works, or is the first to be asked.' }),
  vendor: Type.String({ description: 'The vendor of the model.' }),
  store: Type.Boolean({ description: `Whether the ${name} is stored for retention_days.` }),
  cost_usd: numberOrNull('What it cost, storage included; null until it is settled.'),
  created_at: instant('When it was accepted.'),
  finished_at: instantOrNull('When it ended.'),
  retention_days: wholeOrNull(`How long the ${name} is kept; 0: for its pick-up only.`),
  error: errorSchema,
  end_reason: textOrNull('`deadline`, `vendor_expired` or `cancelled`; null otherwise.'),
  cancel: Type.Optional(cancelSchema),
  warnings: Type.Array(Type.String(), {
    description: `What the model did not take, and what is odd about the ${name}.`,
  }),
  expires_at: instantOrNull(`When the ${name} goes.`),
  webhooks: Type.Array(webhookSchema, { description: 'Who is told of the end.' }),
  metadata: Type.Optional(workSchema),
});

export const statusSchema = Type.Object({
  job_id: Type.String({ description: 'Id of the job.' }),
  state: Type.Enum([...jobStates], {
    description: 'Queued and running jobs are live; the others have ended for good.',
  }),
  progress_pct: orNull<number>({ type: 'integer', minimum: 0, maximum: 100 }, 'How much is done; null when unknown.'),
  eta_seconds: wholeOrNull('When it should be done; null when unknown.'),
  current_step: textOrNull('What is being done.'),
});

export const linkExpiresField = expiresField(
  { min: LINK_SECONDS_MIN, max: LINK_SECONDS_MAX, usual: LINK_SECONDS },
  'How long the link works, seconds.',
);
export const stateFilter = Type.Optional(Type.Enum([...jobStates], { description: 'Only jobs in this state.' }));
export const textFilter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));
