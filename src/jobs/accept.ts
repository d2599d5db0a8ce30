// Accepts a call as a job, for every kind of job: the module validates the request, then the job begins with its hold.

import { findReplay } from '../core/idempotency/write.ts';
import { beginWork } from '../core/wallet/charge/charge.ts';
import type { Answer } from '../kit/capability.ts';
import type { CallContext } from '../kit/services.ts';
import { newId } from '../lib/ids.ts';
import { KEY_KEEP_MS } from './limits.ts';
import type { JobParts } from './parts.ts';
import type { JobPlan } from './plan.ts';
import type { Link } from './row.ts';
import { type CommonInput, checkedWebhook, newRow, requireSomebodyUp } from './start.ts';

/** Of a job's rows, for the bound on what waits in a lane. */
const JOB_BYTES = 2_048;

/** A job that may begin, as far as its request goes. */
export interface Acceptable {
  readonly operation: string;
  readonly parentId: string | null;
  readonly plan: JobPlan;
  /** The plan's chain as the job keeps it. */
  readonly links: readonly Link[];
  /** Seconds, or images. */
  readonly units: number;
  /** Live jobs that the account may have. */
  readonly jobsMax: number;
  readonly prompt: string;
  readonly common: CommonInput;
  /** The request as its row keeps it, JSON. Pictures that were sent are read and decoded here. */
  request(jobId: string): Promise<string>;
}

/** Begins the job and answers its record, or what an earlier call with the idempotency key answered: a replay comes before every other check. */
export async function acceptJob(
  ctx: CallContext,
  { kind, begin }: Pick<JobParts, 'kind' | 'begin'>,
  requested: () => Acceptable | Promise<Acceptable>,
): Promise<Answer> {
  const { core } = ctx;
  const replay = await findReplay(ctx);
  if (replay !== null) return replay;
  const { operation, parentId, plan, links: chain, units, jobsMax, prompt, common, request } = await requested();
  const { shape } = kind.tables;
  requireSomebodyUp(core.vendors, plan.chain, `${shape.name}.${operation}`);
  ctx.warnings.push(...plan.warnings);
  const webhookUrl = await checkedWebhook(ctx, common);
  await core.assets.require();
  const jobId = newId(shape.idPrefix);
  const wish = { jobId, operation, parentId, request: await request(jobId), chain, common };
  return beginWork(ctx, {
    units: BigInt(units),
    amountNanos: plan.heldNanos,
    owner: `${shape.name}:${jobId}`,
    keepMs: KEY_KEEP_MS,
    effect: begin,
    input: { row: newRow(ctx, shape, { ...plan, ...wish }), deadlineMs: plan.deadlineMs, jobsMax, webhookUrl },
    sequences: 0,
    bytes: JOB_BYTES + 4 * prompt.length,
    rows: 1,
  });
}
