// Job settings after a call. A schedule is either an expression or one time; absent fields stay as they were.
import { SHORT_SECONDS } from '../../../core/outbound/long-calls.ts';
import { checkTargetHeaders } from '../../../core/outbound/target-headers.ts';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { instantForm, parseInstant } from '../../../lib/instant.ts';
import { memberSources } from '../../../lib/json-source.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { PAYLOAD_BYTES_MAX } from '../limits.ts';
import { type JobRow, sealHeaders } from './records.ts';
import { checkRecurrence, checkTimezone, nextSlot } from './schedule.ts';
import type { StoredSettings, StoredTarget } from './store.ts';
import { type Target, type TargetInput, targetOf } from './target.ts';

export interface JobInput {
  readonly name?: string | null;
  readonly task?: string;
  readonly target?: TargetInput | null;
  readonly timeout_seconds?: number;
  readonly retries?: number;
  readonly cron_expr?: string | null;
  readonly run_at?: string | null;
  readonly timezone?: string;
  readonly payload?: unknown;
  readonly headers?: Readonly<Record<string, unknown>> | null;
}

/** What a call says, checked as far as it goes without the job. `undefined`: the call says nothing about it. */
export interface Changes {
  readonly name: string | null | undefined;
  readonly target: Target | undefined;
  readonly timeoutSeconds: number | undefined;
  readonly retries: number | undefined;
  readonly cronExpr: string | null | undefined;
  readonly runAtMs: number | null | undefined;
  readonly timezone: string | undefined;
  readonly payload: string | null | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

export interface Timing {
  readonly cronExpr: string | null;
  readonly timezone: string;
  readonly runAtMs: number | null;
}

/** `inputText`: JSON text of the input, from which the payload is cut. Throws for what is wrong in itself. */
export function changesOf(input: JobInput, inputText: string): Changes {
  if (input.cron_expr != null && input.run_at != null) {
    throw problem('INVALID_REQUEST', { param: 'run_at', message: 'Send cron_expr or run_at, not both.' });
  }
  if (input.timezone !== undefined) checkTimezone(input.timezone);
  return {
    name: input.name,
    target: targetOf(input, inputText),
    timeoutSeconds: input.timeout_seconds,
    retries: input.retries,
    // The zone of a job that exists is checked with it later.
    cronExpr:
      input.cron_expr == null ? input.cron_expr : checkRecurrence(input.cron_expr, input.timezone ?? 'UTC').cronExpr,
    runAtMs: input.run_at == null ? input.run_at : instantOf(input.run_at),
    timezone: input.timezone,
    payload: payloadOf(inputText),
    headers: input.headers === undefined ? undefined : checkTargetHeaders(input.headers ?? {}, 'headers'),
  };
}

/** The schedule after the changes: a new one of either kind takes the place of the other. Throws VALIDATION_FAILED when none is left. */
export function timingAfter(changes: Changes, before: Timing): Timing {
  const { cronExpr, runAtMs, timezone = before.timezone } = changes;
  const timing = {
    cronExpr: cronExpr === undefined ? (runAtMs == null ? before.cronExpr : null) : cronExpr,
    runAtMs: runAtMs === undefined ? (cronExpr == null ? before.runAtMs : null) : runAtMs,
    timezone,
  };
  if (timing.cronExpr !== null || timing.runAtMs !== null) return timing;
  throw invalidField('cron_expr', 'required', 'A job needs a schedule: send cron_expr (recurring) or run_at (once).');
}

/** The first slot after `nowMs`; null when there is none any more. */
export function slotAfter({ cronExpr, timezone, runAtMs }: Timing, nowMs: number): number | null {
  if (cronExpr !== null) return nextSlot({ cronExpr, timezone }, nowMs);
  return runAtMs !== null && runAtMs > nowMs ? runAtMs : null;
}

/** As slotAfter, of a schedule that the call sets. Throws VALIDATION_FAILED when it is never due. */
export function requireSlot(timing: Timing, nowMs: number): number {
  const next = slotAfter(timing, nowMs);
  if (next !== null) return next;
  throw timing.cronExpr === null
    ? invalidField('run_at', 'past', 'run_at must lie in the future.')
    : invalidField('cron_expr', 'never', 'cron_expr is never due.');
}

/**
 * The settings of a new job (`before` null) or of a changed one, ready to be stored. `runAs`: the key that a target which is no URL runs as.
 * Throws VALIDATION_FAILED for what only a URL takes.
 */
export function settingsAfter(
  secrets: Secrets,
  jobId: string,
  changes: Changes,
  timing: Timing,
  { before, runAs }: { readonly before: JobRow | null; readonly runAs: string | null },
): StoredSettings {
  const { name, headers } = changes;
  const target = storedTarget(changes, before, runAs);
  if (target.capability !== null && headers !== undefined && Object.keys(headers).length > 0)
    throw invalidField('headers', 'no_url', 'headers go to a URL: leave them out for a queue or a capability.');
  return {
    ...timing,
    ...target,
    name: name === undefined ? (before?.name ?? null) : name,
    timeoutSeconds: changes.timeoutSeconds ?? before?.timeout_seconds ?? SHORT_SECONDS,
    retries: changes.retries ?? before?.retries ?? 0,
    headers: headers === undefined ? (before?.headers ?? null) : sealHeaders(secrets, jobId, headers),
  };
}

/** What is called with which payload. The payload of a call belongs to its target: who changes it must be who may make it. */
function storedTarget({ target, payload }: Changes, before: JobRow | null, runAs: string | null): StoredTarget {
  const isCall = target === undefined ? before?.capability != null : target.kind === 'call';
  if (isCall && payload !== undefined)
    throw invalidField(
      'payload',
      'in_target',
      'What a queue or a capability gets stands in target: target.payload, target.input.',
    );
  if (target?.kind === 'call') {
    const { capability, queue } = target;
    return { taskUrl: '', capability, queue, runAs, payload: target.payload };
  }
  if (target?.kind === 'url') {
    const kept = before?.capability == null ? (before?.payload ?? null) : null;
    return {
      taskUrl: target.url,
      capability: null,
      queue: null,
      runAs: null,
      payload: payload === undefined ? kept : payload,
    };
  }
  const { task_url: taskUrl, capability, queue, run_as } = before as JobRow;
  return {
    taskUrl,
    capability,
    queue,
    runAs: run_as,
    payload: payload === undefined ? (before as JobRow).payload : payload,
  };
}

export function timingOf(job: JobRow): Timing {
  return { cronExpr: job.cron_expr, timezone: job.timezone, runAtMs: job.run_at };
}

function instantOf(text: string): number {
  const ms = parseInstant(text);
  if (ms !== null) return ms;
  throw invalidField('run_at', 'format', `run_at must be ${instantForm}.`);
}

function payloadOf(inputText: string): string | undefined {
  const source = inputText === '' ? undefined : memberSources(inputText).get('payload');
  if (source === undefined) return undefined;
  const text = inputText.slice(source.start, source.end);
  if (Buffer.byteLength(text) <= PAYLOAD_BYTES_MAX) return text;
  throw invalidField('payload', 'size', `payload must be at most ${PAYLOAD_BYTES_MAX} bytes of JSON.`);
}
