import Type from 'typebox';
import { findReplay, runWrite } from '../../../core/idempotency/write.ts';
import { secretLast4, signingSecret } from '../../../core/outbound/signing-secret.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { type JobRow, jobText, sealSecret } from '../jobs/records.ts';
import { type Changes, changesOf, requireSlot, settingsAfter, timingAfter, timingOf } from '../jobs/settings.ts';
import { jobTable, replaceSecret, requireOpenJob, saveJob } from '../jobs/store.ts';
import { checkTarget, requireMayBegin } from '../jobs/target.ts';
import { BODY_BYTES_MAX, PREVIOUS_SECRET_MS, RUN_PRICE } from '../limits.ts';
import { jobIdField, secretField, settingsFields, updatedJobSchema } from '../schemas.ts';
import type { CronState } from '../state.ts';

/** Its answer holds a secret: a replay is for the key that got it. */
const KEPT_SECRET = { secret: true } as const;

export const update = defineCapability<CronState>()({
  method: 'PATCH',
  path: '/v1/cron/update/{job_id}',
  summary: 'Changes a job.',
  description:
    'Changes what is sent and leaves the rest. A new schedule counts from now; cron_expr takes the place of run_at and the other way round. ' +
    'A run that has begun goes on as it was. After a change of secret the earlier one signs too for 24 hours. A completed job cannot be ' +
    'changed: create another. A target that is no URL is sent whole, and runs from then on as the key of this call; without one, who changes such a job of ' +
    'another key must be allowed its call.',
  keywords: ['change schedule', 'edit cron expression', 'reschedule', 'change the time of a schedule'],
  input: Type.Object({
    job_id: jobIdField,
    ...settingsFields,
    secret: secretField('Null: a new one is made and answered.'),
  }),
  output: updatedJobSchema,
  laterPrices: [RUN_PRICE],
  replay: KEPT_SECRET,
  bodyBytesMax: BODY_BYTES_MAX,
  opaque: ['payload', 'headers', 'input'],
  errors: ['JOB_NOT_FOUND', 'STATE_CONFLICT', 'WEBHOOK_URL_REJECTED', 'WEBHOOK_HEADER_REJECTED'],
  examples: [
    {
      title: 'Another time',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
      ],
      input: { job_id: '$0.job_id', cron_expr: '30 7 * * *', timezone: 'America/New_York' },
      expect: { cron_expr: '30 7 * * *', timezone: 'America/New_York' },
    },
  ],
  async run({ ctx, input }) {
    const { core, accountId } = ctx;
    const changes = changesOf(input, ctx.inputText);
    const secret = input.secret === undefined ? undefined : signingSecret(input.secret, 'secret');
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    const runAs = changes.target === undefined ? null : await checkTarget(ctx, changes.target);
    return runWrite(
      ctx,
      async (tx, { nowMs }) => {
        const before = await requireOpenJob(tx, ctx, input.job_id);
        const timing = timingAfter(changes, timingOf(before));
        const settings = settingsAfter(core.secrets, before.job_id, changes, timing, { before, runAs });
        if (changes.target === undefined) requireMayBegin(core, ctx.principal, before);
        const nextMs = nextAfter(changes, before, () => requireSlot(timing, nowMs));
        await saveJob(tx, accountId, before.job_id, settings, nextMs, nowMs);
        if (secret !== undefined) {
          const sealed = { sealed: sealSecret(core.secrets, before.job_id, secret), last4: secretLast4(secret) };
          await replaceSecret(tx, accountId, before.job_id, sealed, nowMs + PREVIOUS_SECRET_MS);
        }
        const job = (await jobTable.find(tx, ctx, before.job_id)) as JobRow;
        return new JsonText(jobText(core.secrets, job, secret));
      },
      KEPT_SECRET,
    );
  },
});

/** A schedule that the call leaves alone keeps its next slot, also one that is due by now; a paused job has none. */
function nextAfter(changes: Changes, before: JobRow, slot: () => number): number | null {
  const { cronExpr, runAtMs, timezone } = changes;
  if (cronExpr === undefined && runAtMs === undefined && timezone === undefined) return before.next_run_at;
  const next = slot();
  return before.status === 'paused' ? null : next;
}
