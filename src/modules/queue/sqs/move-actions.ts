// Message move tasks: redrives of a dead-letter queue to its source queues. A task over several source queues is one redrive for each. They
// start, are listed and are cancelled together; their ids are the task's id with a number appended.

import { queueArn, queueNameInArn } from '../../../core/credentials/aws-arns.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { advanceRedrive, noteRedrive } from '../dead-letter/redrive.ts';
import { listRedrivesOf, type RedriveRow, saveRedrive, takeRedrives } from '../dead-letter/redrive-store.ts';
import { problem } from '../problems.ts';
import type { QueueRow } from '../queues/records.ts';
import { readStats } from '../queues/stats.ts';
import { sourceQueues } from '../queues/store.ts';
import { queueKey } from '../state.ts';
import { invalid, refusal } from './failures.ts';
import { isMissing, queueNamed, shownName } from './names.ts';
import type { SqsAction, SqsCall } from './queue-actions.ts';
import { optionalInteger, optionalText, requiredText } from './request.ts';

const SOURCES_MAX = 100;
const RESULTS_MAX = 10;
const REDRIVE = /^rdr_[0-9A-Za-z]{22}$/;
const REQUESTED_MAX = 2 ** 31 - 1;
const TASK_CHARACTERS = 26;

export const startMessageMoveTask: SqsAction = async (call) => {
  const { request, state, accountId } = call;
  const ratePerSecond = optionalInteger(call.fields, 'MaxNumberOfMessagesPerSecond', 1, 500) ?? null;
  const dlq = await queueOfArn(call, 'SourceArn');
  const sources = await sourcesOf(call, dlq);
  if (sources.length === 0) throw invalid('SourceArn', 'No queue has it as its dead-letter queue.');
  await refuseOtherDestination(call, sources);
  const taskId = newId('rdr_');
  const ids = sources.length === 1 ? [taskId] : partsOf(taskId, sources.length);
  await request.perform('queue.dlq.redrive', async (ctx) => {
    await beginAll(call, ctx, { sources, ids, ratePerSecond });
    const wake = (queue: string, messages: number) => state.waiters.wake(queueKey(accountId, queue), messages);
    // One after the other, each in transactions of its own: no two queues' locks are held together.
    if (ratePerSecond === null) for (const id of ids) await advanceRedrive(state.core.db, accountId, id, wake);
    return { data: null };
  });
  return { TaskHandle: handleOf(taskId) };
};

interface Beginning {
  readonly sources: readonly QueueRow[];
  readonly ids: readonly string[];
  readonly ratePerSecond: number | null;
}

/** All redrives begin, or none does. */
async function beginAll({ state, accountId }: SqsCall, ctx: CallContext, { sources, ids, ratePerSecond }: Beginning) {
  const { db } = state.core;
  const dead: number[] = [];
  for (const each of sources) dead.push((await readStats(db, state.ids, each)).dlq_count);
  return runWrite(ctx, async (tx) => {
    for (const [i, { queue_id: queueId, dlq_id: dlqId }] of sources.entries()) {
      const requested = Math.min(dead[i] ?? 0, REQUESTED_MAX);
      await noteRedrive(tx, {
        accountId,
        redriveId: ids[i] as string,
        queueId,
        dlqId,
        requested,
        seqs: null,
        ratePerSecond,
      });
    }
    return null;
  });
}

/** Messages go back to where they came from, and nowhere else. */
async function refuseOtherDestination(call: SqsCall, sources: readonly QueueRow[]): Promise<void> {
  if (optionalText(call.fields, 'DestinationArn') === undefined) return;
  const destination = await queueOfArn(call, 'DestinationArn');
  const [only, ...others] = sources;
  if (only?.queue_id === destination.queue_id && others.length === 0) return;
  throw refusal(
    'UnsupportedOperation',
    'Messages go back to the queues that they came from: leave DestinationArn out.',
    'DestinationArn',
  );
}

export const cancelMessageMoveTask: SqsAction = async ({ request, fields, accountId }) => {
  const ids = idsOf(requiredText(fields, 'TaskHandle', 10_000));
  const { data } = await request.perform('queue.dlq.redrive_cancel', (ctx) =>
    runWrite(ctx, async (tx, { nowMs }) => {
      const redrives = await takeRedrives(tx, accountId, ids);
      if (redrives.length === 0) throw noTask();
      for (const each of redrives)
        if (each.state === 'running') await saveRedrive(tx, each, each.moved, 'cancelled', nowMs);
      return sumOf(redrives, ({ moved }) => moved);
    }),
  );
  return { ApproximateNumberOfMessagesMoved: data };
};

export const listMessageMoveTasks: SqsAction = async (call) => {
  const { request, state, accountId } = call;
  const limit = optionalInteger(call.fields, 'MaxResults', 1, RESULTS_MAX) ?? 1;
  const dlq = await queueOfArn(call, 'SourceArn');
  const sources = await sourcesOf(call, dlq);
  const { data } = await request.perform('queue.dlq.redrives', async ({ core }) => {
    const ids = sources.map(({ queue_id: id }) => id);
    return { data: await listRedrivesOf(core.db, accountId, ids, limit * ids.length) };
  });
  const tasks = Map.groupBy(data as RedriveRow[], ({ redrive_id: id }) => id.slice(0, TASK_CHARACTERS));
  const shown = new Map(sources.map((queue) => [queue.name, shownName(queue)]));
  const arn = (name: string) => queueArn(state.core, accountId, name);
  const destination = (name: string) => arn(shown.get(name) ?? name);
  return {
    Results: [...tasks].slice(0, limit).map(([id, redrives]) => ({
      ...taskOf(id, redrives, destination),
      SourceArn: arn(shownName(dlq)),
    })),
  };
};

/** One task of what its redrives have done. */
function taskOf(id: string, redrives: readonly RedriveRow[], destination: (queue: string) => string) {
  const [first, ...others] = redrives as [RedriveRow, ...RedriveRow[]];
  const has = (state: RedriveRow['state']) => redrives.some((each) => each.state === state);
  const isKnown = redrives.every(({ requested }) => requested !== null);
  return {
    ...(has('running') ? { TaskHandle: handleOf(id) } : {}),
    Status: has('running') ? 'RUNNING' : has('failed') ? 'FAILED' : has('cancelled') ? 'CANCELLED' : 'COMPLETED',
    ...(others.length > 0 || first.queue === null ? {} : { DestinationArn: destination(first.queue) }),
    ...(first.rate_per_second === null ? {} : { MaxNumberOfMessagesPerSecond: first.rate_per_second }),
    ApproximateNumberOfMessagesMoved: sumOf(redrives, ({ moved }) => moved),
    ...(isKnown ? { ApproximateNumberOfMessagesToMove: sumOf(redrives, ({ requested }) => requested ?? 0) } : {}),
    ...(has('failed') && !has('running') ? { FailureReason: 'QueueDoesNotExist' } : {}),
    StartedTimestamp: first.created_at,
  };
}

function sumOf(redrives: readonly RedriveRow[], of: (redrive: RedriveRow) => number): number {
  return redrives.reduce((sum, each) => sum + of(each), 0);
}

async function queueOfArn({ state, accountId, fields }: SqsCall, param: string): Promise<QueueRow> {
  const name = queueNameInArn(requiredText(fields, param), accountId);
  try {
    if (name !== null) return await queueNamed(state, accountId, name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  throw problem('NOT_FOUND', { param, message: `The resource that you specified for ${param} does not exist.` });
}

function sourcesOf({ state, accountId }: SqsCall, { queue_id: dlqId }: QueueRow): Promise<QueueRow[]> {
  return sourceQueues(state.core.db, accountId, { dlqId, after: '', limit: SOURCES_MAX });
}

function partsOf(taskId: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${taskId}_${String(i).padStart(2, '0')}`);
}

function handleOf(taskId: string): string {
  return Buffer.from(taskId).toString('base64');
}

/** Of all redrives that the task may have. */
function idsOf(handle: string): string[] {
  // Handles of earlier releases name each redrive.
  const ids = Buffer.from(handle, 'base64').toString('utf8').split(',');
  if (ids.length > SOURCES_MAX || !ids.every((id) => REDRIVE.test(id))) throw noTask();
  return ids.flatMap((id) => [id, ...(ids.length === 1 ? partsOf(id, SOURCES_MAX) : [])]);
}

function noTask() {
  return problem('NOT_FOUND', { param: 'TaskHandle', message: 'There is no task with this handle.' });
}
