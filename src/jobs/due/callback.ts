// Route of vendor callbacks. A callback only brings the next poll of its job forward; its content is not trusted.

import { admission } from '../../core/admission.ts';
import { openTurn } from '../../core/background/turns.ts';
import { type Statement, statement } from '../../db/statement.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import { problem } from '../../problems/problem.ts';
import { type AttemptRow, acceptAttempt, attemptByToken } from '../../routing/attempts.ts';
import type { JobHost, SentRequest } from '../kind.ts';
import { type JobShape, vendorWorkOf } from '../shape.ts';
import { adapterOf, callOf } from './vendor-step.ts';

/** Called once, at import: its statement is of the module's schema. `path`: where vendors call, without the token. */
export function callbackRouteOf({ name }: JobShape, path: string): RawRoute<JobHost> {
  // A step under way looks for itself.
  const wakeJob = statement(
    `${name}_wake_job`,
    `UPDATE ${name}.job SET due_at = core.clock_now()
    WHERE account_id = $1 AND job_id = $2 AND due_at > core.clock_now() AND NOT leased`,
  );
  return {
    name: `${name}.callback`,
    methods: ['POST'],
    path: `${path}/{token}`,
    capability: null,
    bodyBytesMax: admission.doors.vendorCallbackBytesMax,
    answer: (request, host) => callback(request, host, wakeJob),
  };
}

async function callback(
  { params, headers, body, signal }: RawRequest,
  host: JobHost,
  wakeJob: Statement,
): Promise<RawAnswer> {
  const { core } = host;
  const attempt = await attemptByToken(core.db, core.secrets, params.token ?? '');
  const { name } = host.kind.tables.shape;
  if (attempt === null || !attempt.work.startsWith(`${name}:`)) throw problem('NOT_FOUND');
  if (attempt.ended_at !== null) return taken;
  const adapter = adapterOf(host, attempt);
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
      await wake(host, attempt, wakeJob);
      return taken;
  }
}

const taken: RawAnswer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' };

async function wake(
  { core, kind }: JobHost,
  { account_id: accountId, work }: AttemptRow,
  wakeJob: Statement,
): Promise<void> {
  const { shape } = kind.tables;
  const jobId = work.slice(`${shape.name}:`.length);
  await core.db.transaction(async (tx) => {
    const { count } = await tx.query(wakeJob, [accountId, jobId]);
    if (count === 1) await openTurn(tx, accountId, vendorWorkOf(shape), core.vendors.health.nowMs);
  }, accountId);
}

function textOf(headers: RawRequest['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
