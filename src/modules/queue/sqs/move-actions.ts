// Message move tasks: messages of a dead-letter queue go back to the queues that they came from, by queue.dlq.redrive. A task of a
// dead-letter queue of several queues is a redrive of each; its handle names them all.
import { problem } from '../problems.ts';
import type { QueueRow } from '../queues/records.ts';
import { sourceQueues } from '../queues/store.ts';
import { invalid, refused } from './failures.ts';
import { isMissing, nameInArn, queueArn, queueNamed, shownName } from './names.ts';
import { invoke, type SqsAction, type SqsCall } from './queue-actions.ts';
import { optionalInteger, optionalText, requiredText } from './request.ts';

const SOURCES_MAX = 100;
const RESULTS_MAX = 10;
const REDRIVE = /^rdr_[0-9A-Za-z]{1,60}$/;

interface Redrive {
  readonly redrive_id: string;
  readonly queue: string | null;
  readonly state: 'running' | 'completed' | 'cancelled' | 'failed';
  readonly moved: number;
  readonly requested: number | null;
  readonly rate_per_second: number | null;
  readonly created_at: string;
}

const STATUS = { running: 'RUNNING', completed: 'COMPLETED', cancelled: 'CANCELLED', failed: 'FAILED' } as const;

export const startMessageMoveTask: SqsAction = async (call) => {
  const rate = optionalInteger(call.fields, 'MaxNumberOfMessagesPerSecond', 1, 500);
  const dlq = await queueOfArn(call, 'SourceArn');
  const sources = await sourcesOf(call, dlq);
  if (sources.length === 0) {
    throw invalid('SourceArn', 'No queue has it as its dead-letter queue.');
  }
  const chosen = await destinationOf(call, sources);
  const ids: string[] = [];
  for (const { name } of chosen) {
    const input = { queue: name, ...(rate === undefined ? {} : { rate_per_second: rate }) };
    ids.push((await invoke<Redrive>(call, 'queue.dlq.redrive', input)).redrive_id);
  }
  return { TaskHandle: handleOf(ids) };
};

/** Messages go back to where they came from, and nowhere else. */
async function destinationOf(call: SqsCall, sources: readonly QueueRow[]): Promise<readonly QueueRow[]> {
  if (optionalText(call.fields, 'DestinationArn') === undefined) return sources;
  const destination = await queueOfArn(call, 'DestinationArn');
  const [only, ...others] = sources;
  if (only?.queue_id === destination.queue_id && others.length === 0) return sources;
  throw refused(
    'UnsupportedOperation',
    'Messages go back to the queues that they came from: leave DestinationArn out.',
    'DestinationArn',
  );
}

export const cancelMessageMoveTask: SqsAction = async (call) => {
  const ids = idsOf(requiredText(call.fields, 'TaskHandle', 10_000));
  let moved = 0;
  for (const redrive_id of ids)
    moved += (await invoke<Redrive>(call, 'queue.dlq.redrive_cancel', { redrive_id })).moved;
  return { ApproximateNumberOfMessagesMoved: moved };
};

export const listMessageMoveTasks: SqsAction = async (call) => {
  const limit = optionalInteger(call.fields, 'MaxResults', 1, RESULTS_MAX) ?? 1;
  const dlq = await queueOfArn(call, 'SourceArn');
  const sources = await sourcesOf(call, dlq);
  const pages = await Promise.all(
    sources.map(({ name }) => invoke<{ items: Redrive[] }>(call, 'queue.dlq.redrives', { queue: name, limit })),
  );
  const shown = new Map(sources.map((queue) => [queue.name, shownName(queue)]));
  const arn = (name: string) => queueArn(call.state.core, call.accountId, name);
  const newest = pages
    .flatMap(({ items }) => items)
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
    .slice(0, limit);
  return {
    Results: newest.map(({ redrive_id, queue, state, moved, requested, rate_per_second, created_at }) => ({
      ...(state === 'running' ? { TaskHandle: handleOf([redrive_id]) } : {}),
      Status: STATUS[state],
      SourceArn: arn(shownName(dlq)),
      ...(queue === null ? {} : { DestinationArn: arn(shown.get(queue) ?? queue) }),
      ...(rate_per_second === null ? {} : { MaxNumberOfMessagesPerSecond: rate_per_second }),
      ApproximateNumberOfMessagesMoved: moved,
      ...(requested === null ? {} : { ApproximateNumberOfMessagesToMove: requested }),
      ...(state === 'failed' ? { FailureReason: 'QueueDoesNotExist' } : {}),
      StartedTimestamp: Date.parse(created_at),
    })),
  };
};

async function queueOfArn({ state, accountId, fields }: SqsCall, param: string): Promise<QueueRow> {
  const name = nameInArn(requiredText(fields, param), accountId);
  try {
    if (name !== null) return await queueNamed(state, accountId, name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  throw problem('NOT_FOUND', { param, message: `The resource that you specified for ${param} does not exist.` });
}

async function sourcesOf({ request, state, accountId }: SqsCall, { queue_id: dlqId }: QueueRow): Promise<QueueRow[]> {
  const range = { dlqId, after: '', limit: SOURCES_MAX };
  const { data } = await request.perform('queue.list', async () => ({
    data: await sourceQueues(state.core.db, accountId, range),
  }));
  return data as QueueRow[];
}

function handleOf(ids: readonly string[]): string {
  return Buffer.from(ids.join(',')).toString('base64');
}

function idsOf(handle: string): string[] {
  const ids = Buffer.from(handle, 'base64').toString('utf8').split(',');
  if (ids.length > SOURCES_MAX || !ids.every((id) => REDRIVE.test(id))) {
    throw problem('NOT_FOUND', { param: 'TaskHandle', message: 'There is no task with this handle.' });
  }
  return ids;
}
