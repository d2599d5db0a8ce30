import Type from 'typebox';
import { findReplay, runWrite } from '../../../core/idempotency/write.ts';
import { secretLast4, signingSecret } from '../../../core/outbound/signing-secret.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { LONG_CALLS } from '../../../kit/fields.ts';
import { requireRoom } from '../../../kit/resource.ts';
import { newId } from '../../../lib/ids.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { invalidField } from '../../../problems/problem.ts';
import { type JobRow, jobText, sealSecret } from '../jobs/records.ts';
import { changesOf, requireSlot, settingsAfter, timingAfter } from '../jobs/settings.ts';
import { addJob, cronLimits, jobTable } from '../jobs/store.ts';
import { checkTarget } from '../jobs/target.ts';
import { BODY_BYTES_MAX, RUN_PRICE } from '../limits.ts';
import { createdJobSchema, secretField, settingsFields } from '../schemas.ts';
import type { CronState } from '../state.ts';

const noTiming = { cronExpr: null, runAtMs: null, timezone: 'UTC' };

/** Its answer holds a secret: a replay is for the key that got it. */
const KEPT_SECRET = { secret: true } as const;

export const create = defineCapability<CronState>()({
  method: 'POST',
  path: '/v1/cron/create',
  summary: 'Schedules a job: a URL, a queue or a capability that is called on a schedule or once.',
  description:
    'Each run is a POST of JSON {run_id, job_id, name, scheduled_at, payload}, signed by Standard Webhooks with the secret answered here; ' +
    'webhook-id is the run id. 2xx within timeout_seconds is success. A run is charged whatever its outcome; without credit it is skipped and ' +
    'not charged. A run that fails is tried again as often as retries says, else the next slot comes. After a crash of the service a run may be ' +
    'repeated with the same run id, so treat run ids as seen once. In place of a URL, target names a queue to publish to, or a capability to ' +
    'call: as the key that makes this call, with the rights and caps that it has at each run, at the price of that call, never paid twice for a ' +
    'run. cron.executed is told once a run, cron.failed after the last attempt. After downtime there is one run for all missed slots, the latest of them.\n\n' +
    'When clocks change, a time without `*` or steps in minute and hour that does not exist runs right after the gap, and one that exists ' +
    'twice runs the first time only; with them nothing runs in the gap and a repeated hour is run through twice.',
  keywords: [
    'cron job',
    'schedule task',
    'run every hour',
    'recurring job',
    'timer',
    'scheduled http request',
    'run later once',
    'call a url every minute',
    'every night',
  ],
  input: Type.Object({
    ...settingsFields,
    secret: secretField('Null or absent: one is made.'),
  }),
  output: createdJobSchema,
  laterPrices: [RUN_PRICE],
  replay: KEPT_SECRET,
  bodyBytesMax: BODY_BYTES_MAX,
  opaque: ['payload', 'headers', 'input'],
  errors: ['WEBHOOK_URL_REJECTED', 'WEBHOOK_HEADER_REJECTED', 'QUOTA_EXCEEDED'],
  limits: {
    jobs: '100 jobs an account that are not completed (standard tier), 1,000 (pro), 10,000 (enterprise).',
    payload: '64 KiB.',
    long_calls: LONG_CALLS,
    interval: 'At most one run a minute.',
    retention: 'Runs and completed jobs are kept for 30 days.',
  },
  examples: [
    {
      title: 'Every working day at nine in Berlin',
      input: {
        name: 'daily report',
        task: 'https://example.org/tasks/report',
        cron_expr: '0 9 * * MON-FRI',
        timezone: 'Europe/Berlin',
        payload: { report: 'sales' },
      },
      expect: { status: 'active', cron_expr: '0 9 * * MON-FRI', run_at: null },
    },
    {
      title: 'A message to a queue every hour',
      input: { target: { queue: 'jobs', payload: { clean: 'up' } }, cron_expr: '0 * * * *', retries: 3 },
      expect: { status: 'active', task: null, retries: 3, payload: { clean: 'up' } },
    },
    {
      title: 'Once',
      input: { task: 'https://example.org/tasks/remind', run_at: '2099-12-24T18:00:00+01:00' },
      expect: { status: 'active', run_at: '2099-12-24T17:00:00.000Z', next_run_at: '2099-12-24T17:00:00.000Z' },
    },
  ],
  async run({ ctx, input }) {
    const { core, accountId } = ctx;
    const changes = changesOf(input, ctx.inputText);
    const timing = timingAfter(changes, noTiming);
    const secret = signingSecret(input.secret, 'secret');
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    const runAs = await checkTarget(ctx, changes.target ?? noTarget());
    return runWrite(
      ctx,
      async (tx, { nowMs }) => {
        const nextMs = requireSlot(timing, nowMs);
        await requireRoom(tx, ctx, 'job', cronLimits.cron_jobs);
        const jobId = newId('cron_', nowMs);
        const sealed = { sealed: sealSecret(core.secrets, jobId, secret), last4: secretLast4(secret) };
        const settings = settingsAfter(core.secrets, jobId, changes, timing, { before: null, runAs });
        await addJob(tx, accountId, { ...settings, jobId, keyId: ctx.principal.id, nextMs, secret: sealed }, nowMs);
        const job = (await jobTable.find(tx, ctx, jobId)) as JobRow;
        return new JsonText(jobText(core.secrets, job, secret));
      },
      KEPT_SECRET,
    );
  },
});

function noTarget(): never {
  const message =
    'A job needs a target: send task, a URL, or target with {url}, {queue, payload} or {capability, input}.';
  throw invalidField('task', 'required', message);
}
