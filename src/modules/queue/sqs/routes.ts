// Routes of Amazon SQS clients: /sqs, the URLs of queues, and the root, for clients that cannot have a path. Two protocols: JSON (the action in
// X-Amz-Target), and forms of the query protocol, answered with XML. Each action is a call of the capability that does the same natively.
import { sigV4, sigV4OfBody } from '../../../core/credentials/sigv4.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';
import { BATCH_BODY_BYTES_MAX } from '../limits.ts';
import type { QueueState } from '../state.ts';
import { failureOf, refusal } from './failures.ts';
import { cancelMessageMoveTask, listMessageMoveTasks, startMessageMoveTask } from './move-actions.ts';
import {
  createQueueAction,
  deleteQueue,
  getQueueAttributes,
  getQueueUrl,
  listDeadLetterSourceQueues,
  listQueues,
  listQueueTags,
  purgeQueue,
  type SqsAction,
  setQueueAttributes,
  tagQueue,
  untagQueue,
} from './queue-actions.ts';
import {
  changeMessageVisibility,
  changeMessageVisibilityBatch,
  deleteMessage,
  deleteMessageBatch,
  receiveMessage,
} from './receive-actions.ts';
import { actionIn, type Fields, formOf, readForm, readJsonFields } from './request.ts';
import { sendMessage, sendMessageBatch } from './send-actions.ts';
import { xmlAnswer, xmlFailure } from './xml.ts';

const TARGET = 'AmazonSQS.';

/** What is done, and as a call of which capability: of several, of the first that the scopes allow. */
type Served = readonly [run: SqsAction, ...capabilities: readonly string[]];

const refuseUnsupported: SqsAction = async () => {
  throw refusal(
    'UnsupportedOperation',
    'The scopes of API keys say who may do what: see POST /v1/account/keys/create.',
  );
};

export const ACTIONS: ReadonlyMap<string, Served> = new Map(
  Object.entries<Served>({
    CreateQueue: [createQueueAction, 'queue.create'],
    DeleteQueue: [deleteQueue, 'queue.delete'],
    GetQueueUrl: [getQueueUrl, 'queue.get'],
    ListQueues: [listQueues, 'queue.list'],
    GetQueueAttributes: [getQueueAttributes, 'queue.stats', 'queue.get'],
    SetQueueAttributes: [setQueueAttributes, 'queue.update'],
    PurgeQueue: [purgeQueue, 'queue.purge'],
    SendMessage: [sendMessage, 'queue.publish'],
    SendMessageBatch: [sendMessageBatch, 'queue.batch.publish'],
    ReceiveMessage: [receiveMessage, 'queue.consume'],
    DeleteMessage: [deleteMessage, 'queue.ack'],
    DeleteMessageBatch: [deleteMessageBatch, 'queue.ack'],
    ChangeMessageVisibility: [changeMessageVisibility, 'queue.extend', 'queue.nack'],
    ChangeMessageVisibilityBatch: [changeMessageVisibilityBatch, 'queue.extend', 'queue.nack'],
    ListDeadLetterSourceQueues: [listDeadLetterSourceQueues, 'queue.list'],
    StartMessageMoveTask: [startMessageMoveTask, 'queue.dlq.redrive'],
    CancelMessageMoveTask: [cancelMessageMoveTask, 'queue.dlq.redrive_cancel'],
    ListMessageMoveTasks: [listMessageMoveTasks, 'queue.dlq.redrives'],
    TagQueue: [tagQueue, 'queue.update'],
    UntagQueue: [untagQueue, 'queue.update'],
    ListQueueTags: [listQueueTags, 'queue.get'],
    AddPermission: [refuseUnsupported],
    RemovePermission: [refuseUnsupported],
  }),
);

export const sqsRoutes: readonly RawRoute<QueueState>[] = [
  route('queue.sqs', '/sqs'),
  // As most SDKs write it.
  route('queue.sqs', '/sqs/'),
  route('queue.sqs', '/sqs/{account}/{queue}'),
  route('queue.sqs.root', '/', ['POST']),
];

function route(name: string, path: string, methods: RawRoute['methods'] = ['GET', 'POST']): RawRoute<QueueState> {
  return {
    name,
    path,
    methods,
    capability: null,
    bodyBytesMax: BATCH_BODY_BYTES_MAX,
    // What does not tell the hash of its body is known only with the body.
    credentialOf: (head) => (head.headers['x-amz-content-sha256'] === undefined ? null : sigV4(head, SIGNED)),
    bodyCredentialOf: (head) => sigV4OfBody(head, SIGNED),
    longBodyFor,
    answer,
    refuse,
  };
}

const SIGNED = { services: ['sqs'] } as const;

/** Only messages may be long. What a form asks for is known with its body. */
function longBodyFor(head: RawHead): readonly string[] {
  const actions = isJson(head) ? [targetOf(head)] : ['SendMessage', 'SendMessageBatch'];
  const sending = actions.filter((action) => action.startsWith('SendMessage'));
  return sending.flatMap((action) => (ACTIONS.get(action)?.slice(1) as readonly string[] | undefined) ?? []);
}

async function answer(request: RawRequest, state: QueueState): Promise<RawAnswer> {
  const { principal } = request;
  if (principal === null) throw new Error('the signature is looked at before the request is answered');
  const action = actionOf(request);
  const [run, ...capabilities] = ACTIONS.get(action) ?? [];
  // Scope and rate come before anything is decoded, or looked up by its name.
  if (capabilities.length > 0) await request.admitCall(...capabilities);
  else await request.rate();
  if (run === undefined) throw notServed(action);
  const { accountId } = principal;
  const isXml = !isJson(request);
  const fields = await readFields(request, action);
  const data = await run({ request, state, accountId, fields, isXml, nameInPath: request.params.queue });
  return isXml ? xml(200, xmlAnswer(action, data, request.requestId), request) : jsonAnswer(200, data, request);
}

function notServed(action: string): Problem {
  if (action === '') return refusal('InvalidAction', 'The form must contain the parameter Action.', 'Action');
  return refusal('InvalidAction', `The action ${JSON.stringify(action.slice(0, 64))} is not served.`, 'Action');
}

/** What is asked for, before the rest is read; empty: nothing. */
function actionOf({ headers, body, query }: RawRequest): string {
  if (isJson({ headers })) return targetOf({ headers });
  return (body.length === 0 ? query.get('Action') : actionIn(body)) ?? '';
}

async function readFields(request: RawRequest, action: string): Promise<Fields> {
  const { body } = request;
  if (isJson(request)) return request.read(readJsonFields, body);
  const form = body.length === 0 ? formOf(request.query.toString()) : await request.read(readForm, body);
  // A form that names two is a call of neither.
  if (form.action !== action) throw notServed(form.action);
  return form.fields;
}

function isJson({ headers }: Pick<RawHead, 'headers'>): boolean {
  const target = headers['x-amz-target'];
  return typeof target === 'string' && target.startsWith(TARGET);
}

function targetOf({ headers }: Pick<RawHead, 'headers'>): string {
  return String(headers['x-amz-target']).slice(TARGET.length);
}

function jsonAnswer(
  status: number,
  body: object,
  { requestId }: RawHead,
  more: Record<string, string> = {},
): RawAnswer {
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amzn-requestid': requestId,
    'cache-control': 'no-store',
  };
  return { status, headers: { ...headers, ...more }, body: JSON.stringify(body) };
}

function xml(status: number, body: string, { requestId }: RawHead, more: Record<string, string> = {}): RawAnswer {
  const headers = { 'content-type': 'text/xml', 'x-amzn-requestid': requestId, 'cache-control': 'no-store' };
  return { status, headers: { ...headers, ...more }, body };
}

/** In the form of the request's protocol, with our own code and the id of the request. */
function refuse(problem: Problem, head: RawHead): RawAnswer {
  const failure = failureOf(problem);
  const { name, queryName, message, status, type, code, retryAfterMs } = failure;
  const headers: Record<string, string> = {};
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  if (!isJson(head)) return xml(status, xmlFailure(failure, head.requestId), head, headers);
  const wantsOldName = head.headers['x-amzn-query-mode'] === 'true';
  if (wantsOldName) headers['x-amzn-query-error'] = `${queryName};${type}`;
  return jsonAnswer(
    status,
    { __type: `com.amazonaws.sqs#${name}`, message, error_code: code, request_id: head.requestId },
    head,
    headers,
  );
}
