// SQS actions on queues: create, find, set attributes, purge, delete, and tags.

import { runWrite } from '../../../core/idempotency/write.ts';
import { decodeCursor, encodeCursor } from '../../../core/secrets/cursors.ts';
import type { RawRequest } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../problems.ts';
import { changeQueue } from '../queues/change-queue.ts';
import { createQueue } from '../queues/create-queue.ts';
import { type QueueRow, queueRecord } from '../queues/records.ts';
import type { ExactSettingsInput } from '../queues/settings.ts';
import { findQueueById, type QueueSettings, queuesOf, sourceQueues } from '../queues/store.ts';
import { type QueueState, queueKey } from '../state.ts';
import {
  attributesOf,
  DEFAULTS,
  keptOf,
  keptText,
  readAttributes,
  readNames,
  requireAttributesOf,
  type SetAttributes,
} from './attributes.ts';
import { invalid } from './failures.ts';
import { isMissing, nameInUrl, nativeName, queueNamed, queueUrl, shownName } from './names.ts';
import { type Fields, members, optionalInteger, optionalText, requiredText, texts } from './request.ts';

/** One request of a client of SQS. */
export interface SqsCall {
  readonly request: RawRequest;
  readonly state: QueueState;
  readonly accountId: string;
  readonly fields: Fields;
  /** It is answered with XML. */
  readonly isXml: boolean;
  /** The name in the address that it was sent to. */
  readonly nameInPath: string | undefined;
}

/** Answers in the shape of the JSON protocol. */
export type SqsAction = (call: SqsCall) => Promise<Fields>;

const TAGS_MAX = 50;
const PAGE_MAX = 1_000;

/** The queue that the call is about. */
export function theQueue({ state, accountId, fields, nameInPath }: SqsCall): Promise<QueueRow> {
  return queueNamed(state, accountId, nameInUrl(fields, nameInPath));
}

/** The same as it was a while ago, for what looks at it again with the message. */
export async function theHotQueue({ state, accountId, fields, nameInPath }: SqsCall): Promise<QueueRow> {
  const name = nameInUrl(fields, nameInPath);
  try {
    return await queueNamed(state, accountId, name, true);
  } catch (error) {
    if (!isMissing(error)) throw error;
    // It may have been made anew, with another spelling.
    return queueNamed(state, accountId, name);
  }
}

/** Calls a capability as a native client does. Throws the Problem of a failure. */
export async function invoke<Data>({ request }: SqsCall, capability: string, input: Fields): Promise<Data> {
  const { answer, problem: failure } = await request.invoke(capability, input);
  if (failure !== null) throw failure;
  return answer?.data as Data;
}

export const createQueueAction: SqsAction = async (call) => {
  const { request, state, accountId, fields } = call;
  const name = requiredText(fields, 'QueueName');
  const set = readAttributes(members(fields, 'Attributes'), accountId);
  const tags = readTags(members(fields, 'tags' in fields ? 'tags' : 'Tags'));
  const native = (await shownSo(call, name)) ?? nativeName(name, set.isFifo);
  const type = set.isFifo ? 'fifo' : 'standard';
  requireAttributesOf(type, set);
  const redrive = await redriveSettings(call, set);
  await request.perform('queue.create', (ctx) =>
    runWrite(ctx, async (tx, { nowMs }) => {
      const sqs_settings = keptText({ attributes: set.kept, tags });
      const wanted = { ...DEFAULTS, ...set.settings, ...redrive, sqs_settings };
      const made = await createQueue(
        tx,
        { accountId, tier: ctx.tier, nowMs },
        { ...wanted, name: native, type, sqsName: name },
        (existing, settings) => refuseOther(existing, { name, type, set, settings }),
      );
      return queueRecord(made);
    }),
  );
  return { QueueUrl: queueUrl(state.core, accountId, name) };
};

/** The native name of a queue that is shown by this one: a native FIFO queue without `.fifo` may be. Null: there is none. */
async function shownSo({ state, accountId }: SqsCall, name: string): Promise<string | null> {
  try {
    return (await queueNamed(state, accountId, name)).name;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

interface Wanted {
  readonly name: string;
  readonly type: string;
  readonly set: SetAttributes;
  readonly settings: QueueSettings;
}

/** A queue that is there already is the same if nothing that was sent differs. */
function refuseOther(existing: QueueRow, { name, type, set, settings }: Wanted): void {
  const { attributes } = keptOf(existing);
  const sent = [...Object.keys(set.settings), ...(set.redrive == null ? [] : ['dlq_id', 'max_receive_count'])];
  const isSame =
    shownName(existing) === name &&
    existing.type === type &&
    sent.every((each) => existing[each as keyof QueueRow] === settings[each as keyof QueueSettings]) &&
    Object.entries(set.kept).every(([each, value]) => (attributes[each] ?? 'false') === value);
  if (isSame) return;
  throw problem('ALREADY_EXISTS', {
    param: 'QueueName',
    message: `A queue named ${shownName(existing)} exists with another spelling, type or attributes.`,
  });
}

async function redriveSettings({ state, accountId }: SqsCall, { redrive }: SetAttributes): Promise<ExactSettingsInput> {
  if (redrive === undefined) return {};
  if (redrive === null) return { dead_letter_queue: null };
  const target = await queueNamed(state, accountId, redrive.target);
  return { dead_letter_queue: target.name, max_retries: redrive.receives };
}

export const deleteQueue: SqsAction = async (call) => {
  const queue = await theQueue(call);
  await invoke(call, 'queue.delete', { queue: queue.name });
  return {};
};

export const purgeQueue: SqsAction = async (call) => {
  const queue = await theQueue(call);
  await invoke(call, 'queue.purge', { queue: queue.name });
  return {};
};

export const getQueueUrl: SqsAction = async ({ request, state, accountId, fields }) => {
  const name = requiredText(fields, 'QueueName');
  const { data } = await request.perform('queue.get', async () => ({ data: await queueNamed(state, accountId, name) }));
  return { QueueUrl: queueUrl(state.core, accountId, shownName(data as QueueRow)) };
};

export const listQueues: SqsAction = async (call) => {
  const { request, state, accountId, fields } = call;
  const prefix = optionalText(fields, 'QueueNamePrefix', 80) ?? '';
  const limit = optionalInteger(fields, 'MaxResults', 1, PAGE_MAX) ?? PAGE_MAX;
  const after = pageAfter(call, `sqs queues ${prefix}`);
  const list = async (ctx: CallContext) => ({
    data: await queuesOf(ctx.core.db, accountId, { prefix: prefix.toLowerCase(), after, limit: limit + 1 }),
  });
  const rows = (await request.perform('queue.list', list)).data as QueueRow[];
  const page = rows.slice(0, limit);
  const names = page.map(shownName).filter((name) => name.startsWith(prefix));
  return {
    ...(names.length === 0 ? {} : { QueueUrls: names.map((name) => queueUrl(state.core, accountId, name)) }),
    ...nextToken(call, `sqs queues ${prefix}`, page, rows.length),
  };
};

/** Where the page before ended; empty: the first one. Throws INVALID_CURSOR. */
function pageAfter({ state, accountId, fields }: SqsCall, list: string): string {
  const token = optionalText(fields, 'NextToken') ?? '';
  if (token === '') return '';
  const [after = ''] = decodeCursor(state.core.secrets, [accountId, list], token);
  return String(after);
}

/** As with SQS a token is given only to who asks for pages. */
function nextToken(
  { state, accountId, fields }: SqsCall,
  list: string,
  page: readonly QueueRow[],
  rows: number,
): Fields {
  if (rows === page.length || fields.MaxResults === undefined) return {};
  return { NextToken: encodeCursor(state.core.secrets, [accountId, list], [page.at(-1)?.name ?? '']) };
}

export const listDeadLetterSourceQueues: SqsAction = async (call) => {
  const { request, state, accountId, fields } = call;
  const limit = optionalInteger(fields, 'MaxResults', 1, PAGE_MAX) ?? PAGE_MAX;
  const after = pageAfter(call, 'sqs sources');
  const { data } = await request.perform('queue.list', async ({ core }) => {
    const { queue_id: dlqId } = await theQueue(call);
    return { data: await sourceQueues(core.db, accountId, { dlqId, after, limit: limit + 1 }) };
  });
  const rows = data as QueueRow[];
  const page = rows.slice(0, limit);
  return {
    queueUrls: page.map((row) => queueUrl(state.core, accountId, shownName(row))),
    ...nextToken(call, 'sqs sources', page, rows.length),
  };
};

export const getQueueAttributes: SqsAction = async (call) => {
  const { request, state, accountId, fields } = call;
  const names = readNames(texts(fields, 'AttributeNames'));
  if (names !== 'all' && names.size === 0) {
    await request.perform('queue.get', async () => ({ data: await theQueue(call) }));
    return {};
  }
  const { data } = await request.perform('queue.stats', async ({ core }) => {
    const queue = await theQueue(call);
    const stats = await state.counting.add(queueKey(accountId, queue.name), null);
    const dlq = queue.dlq_id === null ? null : await findQueueById(core.db, accountId, queue.dlq_id);
    return { data: attributesOf(core, queue, stats, dlq) };
  });
  const all = Object.entries(data as Record<string, string>);
  return { Attributes: Object.fromEntries(names === 'all' ? all : all.filter(([name]) => names.has(name))) };
};

export const setQueueAttributes: SqsAction = async (call) => {
  const { request, state, accountId, fields } = call;
  const set = readAttributes(members(fields, 'Attributes'), accountId);
  const { name } = await theQueue(call);
  const redrive = await redriveSettings(call, set);
  await request.perform('queue.update', (ctx) =>
    changeQueue(ctx, state, name, (queue) => {
      requireAttributesOf(queue.type, set);
      const kept = keptOf(queue);
      const attributes = { ...kept.attributes, ...set.kept };
      return { ...set.settings, ...redrive, sqs_settings: keptText({ ...kept, attributes }) };
    }),
  );
  await state.cache.refresh(accountId, name);
  return {};
};

export const listQueueTags: SqsAction = async (call) => {
  const { data } = await call.request.perform('queue.get', async () => {
    return { data: keptOf(await theQueue(call)).tags };
  });
  return Object.keys(data as object).length === 0 ? {} : { Tags: data };
};

export const tagQueue: SqsAction = async (call) => {
  const tags = readTags(members(call.fields, 'Tags'));
  return changeTags(call, (before) => {
    const all = { ...before, ...tags };
    if (Object.keys(all).length > TAGS_MAX) throw invalid('Tags', `A queue has at most ${TAGS_MAX} tags.`);
    return all;
  });
};

export const untagQueue: SqsAction = async (call) => {
  const gone = new Set(texts(call.fields, 'TagKeys', TAGS_MAX));
  return changeTags(call, (before) => Object.fromEntries(Object.entries(before).filter(([key]) => !gone.has(key))));
};

type Tags = Readonly<Record<string, string>>;

async function changeTags(call: SqsCall, change: (before: Tags) => Tags): Promise<Fields> {
  const { name } = await theQueue(call);
  await call.request.perform('queue.update', (ctx) =>
    changeQueue(ctx, call.state, name, (queue) => {
      const kept = keptOf(queue);
      return { sqs_settings: keptText({ ...kept, tags: change(kept.tags) }) };
    }),
  );
  return {};
}

function readTags(sent: Fields): Tags {
  const entries = Object.entries(sent);
  if (entries.length > TAGS_MAX) throw invalid('Tags', `A queue has at most ${TAGS_MAX} tags.`);
  for (const [key, value] of entries) {
    const isText = typeof value === 'string' && value.length <= 256 && key.length >= 1 && key.length <= 128;
    if (!isText || (key + value).includes('\0')) {
      throw invalid('Tags', 'A tag has a key of 1 to 128 characters and a value of up to 256.');
    }
  }
  return sent as Tags;
}
