// Where clients of Amazon SQS send their requests: at /sqs, at the URLs of queues, and at the root, for clients that can have no path. Two
// protocols: JSON (the action in X-Amz-Target) and forms of the query protocol, which are answered with XML. Each action is a call
// of the capability that does the same natively.
import { hash } from 'node:crypto';
import { type SigV4Credential, sigV4 } from '../../../core/credentials/sigv4.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../manifest/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';
import { BATCH_BODY_BYTES_MAX } from '../limits.ts';
import type { QueueState } from '../state.ts';
import { failureOf, refused } from './failures.ts';
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
import { formOf, readForm, readJsonFields, type SqsRequest } from './request.ts';
import { sendMessage, sendMessageBatch } from './send-actions.ts';
import { xmlAnswer, xmlFailure } from './xml.ts';

const TARGET = 'AmazonSQS.';

const unsupported: SqsAction = async () => {
  throw refused(
    'UnsupportedOperation',
    'The scopes of API keys say who may do what: see POST /v1/account/keys/create.',
  );
};

const ACTIONS: ReadonlyMap<string, SqsAction> = new Map(
  Object.entries({
    CreateQueue: createQueueAction,
    DeleteQueue: deleteQueue,
    GetQueueUrl: getQueueUrl,
    ListQueues: listQueues,
    GetQueueAttributes: getQueueAttributes,
    SetQueueAttributes: setQueueAttributes,
    PurgeQueue: purgeQueue,
    SendMessage: sendMessage,
    SendMessageBatch: sendMessageBatch,
    ReceiveMessage: receiveMessage,
    DeleteMessage: deleteMessage,
    DeleteMessageBatch: deleteMessageBatch,
    ChangeMessageVisibility: changeMessageVisibility,
    ChangeMessageVisibilityBatch: changeMessageVisibilityBatch,
    ListDeadLetterSourceQueues: listDeadLetterSourceQueues,
    StartMessageMoveTask: startMessageMoveTask,
    CancelMessageMoveTask: cancelMessageMoveTask,
    ListMessageMoveTasks: listMessageMoveTasks,
    TagQueue: tagQueue,
    UntagQueue: untagQueue,
    ListQueueTags: listQueueTags,
    AddPermission: unsupported,
    RemovePermission: unsupported,
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
    ...{ name, path, methods, capability: null, bodyBytesMax: BATCH_BODY_BYTES_MAX },
    // What does not tell the hash of its body is known only with the body.
    credentialOf: (head) => (head.headers['x-amz-content-sha256'] === undefined ? null : signatureOf(head)),
    answer,
    refuse,
  };
}

function signatureOf(head: RawHead, body?: Buffer): SigV4Credential | null {
  return sigV4(head, { services: ['sqs'], ...(body === undefined ? {} : { bodySha256: hash('sha256', body) }) });
}

async function answer(request: RawRequest, state: QueueState): Promise<RawAnswer> {
  const { accountId } = request.principal ?? (await request.identify(signatureOf(request, request.body)));
  const { action, fields } = await readRequest(request);
  const run = ACTIONS.get(action);
  if (run === undefined) {
    await request.rate();
    throw refused('InvalidAction', `The action ${JSON.stringify(action.slice(0, 64))} is not served.`, 'Action');
  }
  const data = await run({
    request,
    state,
    accountId,
    fields,
    isXml: !isJson(request),
    nameInPath: request.params.queue,
  });
  return isJson(request)
    ? jsonAnswer(200, data, request)
    : xml(200, xmlAnswer(action, data, request.requestId), request);
}

async function readRequest(request: RawRequest): Promise<SqsRequest> {
  const { body, headers } = request;
  if (isJson(request)) {
    const action = String(headers['x-amz-target']).slice(TARGET.length);
    return { action, fields: await request.read(readJsonFields, body) };
  }
  return body.length === 0 ? formOf(request.query.toString()) : request.read(readForm, body);
}

function isJson({ headers }: RawHead): boolean {
  const target = headers['x-amz-target'];
  return typeof target === 'string' && target.startsWith(TARGET);
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
