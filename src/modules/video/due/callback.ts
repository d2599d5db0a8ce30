// A vendor says that something has happened to a job. It is asked, sooner than it would have been; what it says here is not believed.
import { admission } from '../../../core/admission.ts';
import { openTurn } from '../../../core/background/turns.ts';
import { type AttemptRow, acceptAttempt, attemptByToken } from '../../../core/vendors/attempts.ts';
import { statement } from '../../../db/statement.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { problem } from '../../../problems/problem.ts';
import { VENDOR_WORK } from '../limits.ts';
import type { VideoState } from '../state.ts';
import { CALLBACK_PATH, type SentRequest } from './material.ts';
import { adapterOf, callOf } from './vendor-step.ts';

// A step under way looks for itself.
const wakeJob = statement(
  'video_wake_job',
  `UPDATE video.job SET due_at = core.clock_now()
    WHERE account_id = $1 AND job_id = $2 AND due_at > core.clock_now() AND NOT leased`,
);

export const callbackRoute: RawRoute<VideoState> = {
  name: 'video.callback',
  methods: ['POST'],
  path: `${CALLBACK_PATH}/{token}`,
  capability: null,
  bodyBytesMax: admission.doors.vendorCallbackBytesMax,
  answer: (request, state) => callback(request, state),
};

async function callback({ params, headers, body, signal }: RawRequest, state: VideoState): Promise<RawAnswer> {
  const { core } = state;
  const attempt = await attemptByToken(core.db, core.secrets, params.token ?? '');
  if (attempt === null) throw problem('NOT_FOUND');
  if (attempt.ended_at !== null) return taken;
  const adapter = adapterOf(core, attempt);
  const call = callOf(core, attempt, signal);
  if (adapter.readCallback === undefined || call === null) return taken;
  const { options } = JSON.parse(attempt.request) as SentRequest;
  const told = { model: attempt.model, options, headers: textOf(headers), body, nowMs: core.vendors.health.nowMs };
  const reading = await adapter.readCallback(call, told);
  switch (reading.kind) {
    case 'forged':
      core.log.warn({ vendor: attempt.vendor, message: reading.message }, 'a forged callback of a vendor was refused');
      throw problem('NOT_FOUND');
    case 'unanswered':
      throw problem('SERVICE_UNAVAILABLE', { message: 'The signature cannot be checked now; send it again.' });
    case 'taken':
      if (attempt.state === 'unknown' && reading.job !== null)
        await acceptAttempt(core.db, attempt.account_id, attempt.attempt_id, reading.job);
      await wake(state, attempt);
      return taken;
  }
}

const taken: RawAnswer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' };

async function wake({ core }: VideoState, { account_id: accountId, work }: AttemptRow): Promise<void> {
  const jobId = work.slice('video:'.length);
  await core.db.transaction(async (tx) => {
    const { count } = await tx.query(wakeJob, [accountId, jobId]);
    if (count === 1) await openTurn(tx, accountId, VENDOR_WORK, core.vendors.health.nowMs);
  });
}

function textOf(headers: RawRequest['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
