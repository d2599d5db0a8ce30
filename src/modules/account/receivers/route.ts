// The door of receivers: POST /hooks/{token}. The address says whose request it is, before its body is read. Then the raw bytes are verified, and
// one commit publishes and charges. Senders are told to come again for all that may be mended.
import { hash } from 'node:crypto';
import { admission } from '../../../core/admission.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { newId } from '../../../lib/ids.ts';
import { iso } from '../../../lib/time.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { AccountState } from '../state.ts';
import { RECEIVE_PATH } from './address.ts';
import { challengeIn, challengeOfGet, challengeOfPost, isCertificateCheck } from './challenges.ts';
import { KEPT_MESSAGE_BYTES_MAX, PARSED_BYTES_MAX, RETRY_LATER_MS } from './limits.ts';
import { keptHeaders, messageOf, type ReadBody, readBody } from './message.ts';
import { inputOf, messageIdIn } from './publishing.ts';
import { CHANGED, type Receiver } from './ring.ts';
import type { RequestOutcome } from './schemas.ts';
import { type Named, namedIn, refusalOf } from './schemes.ts';
import type { ReceivedRequest } from './store.ts';

/** All repeats of a delivery are one call, whatever else differs in them. */
const SAME_DELIVERY = 'delivery';
const NO_QUERY_CHALLENGE: ReadonlySet<string> = new Set(['github', 'stripe', 'slack', 'standard', 'hmac']);

export const receiveRoute: RawRoute<AccountState> = {
  name: 'account.webhook',
  methods: ['POST', 'GET'],
  path: `${RECEIVE_PATH}/{token}`,
  capability: null,
  rate: 'received',
  bodyBytesMax: admission.doors.receivedWebhookBytesMax,
  credentialOf: ({ params }, { receivers }) => receivers.credential(params.token ?? ''),
  answer,
  refuse: refusalAtDoor,
};

async function answer(request: RawRequest, state: AccountState): Promise<RawAnswer> {
  const receiver = request.principal as Receiver;
  const first = await receive(request, receiver, state);
  if (first !== 'changed') return first;
  // What was verified by is not so any more: once more, by what is.
  const now = await request.identify(state.receivers.credential(request.params.token ?? '', true));
  const second = await receive(request, now as Receiver, state);
  return second === 'changed'
    ? comeAgain('SERVICE_UNAVAILABLE', 'The receiver is being changed. Send it again.')
    : second;
}

async function receive(
  request: RawRequest,
  receiver: Receiver,
  { received }: AccountState,
): Promise<RawAnswer | 'changed'> {
  const { verification, disabled } = receiver;
  const { method, query, headers, body: bytes } = request;
  if (disabled) return comeAgain('RECEIVER_DISABLED', 'This receiver is disabled. Send it again later.');
  if (method === 'GET') return challengeAnswer(query, receiver);
  const asked = NO_QUERY_CHALLENGE.has(verification.scheme) ? null : challengeOfPost(query);
  if (asked !== null) return asked;
  const nowMs = Date.now();
  const refusal = refusalOf(verification, { headers, body: bytes }, nowMs);
  if (refusal !== null) return failure(401, 'SIGNATURE_MISMATCH', refusal);
  const { accountId, id: receiverId } = receiver;
  const requestId = newId('whq_', nowMs);
  const arrived = { accountId, receiverId, requestId, receivedMs: nowMs, bytes: bytes.length };
  if (bytes.length > PARSED_BYTES_MAX) return refuseLong(arrived, received.add.bind(received));
  const body = readBody(headers, bytes);
  if (isCertificateCheck(verification, body.value)) return { status: 200, headers: {}, body: '' };
  const named = namedIn(verification.scheme, headers, body.value);
  const challenge = challengeIn(body.value);
  const message = messageOf({
    receiverId,
    name: receiver.name,
    headers,
    body,
    named,
    receivedAt: iso(nowMs),
  });
  const list = (outcome: RequestOutcome, status: number, code: string | null, messageId: string | null) =>
    received.add({
      ...arrived,
      outcome,
      status,
      code,
      event: named.event,
      deliveryId: named.deliveryId,
      messageId,
      message: Buffer.byteLength(message.text) > KEPT_MESSAGE_BYTES_MAX ? null : message.text,
    });
  if (challenge !== null) {
    list('challenge', challenge.status, null, null);
    return challenge;
  }
  const verdict = await verdictOf(receiver, { headers, body, named });
  if (verdict === 'filtered') {
    list('filtered', 202, null, null);
    return receiptAnswer(202, requestId, 'filtered');
  }
  const outcome = await request.invoke(receiver.capability, inputOf(receiver, named.event, message), {
    ...(named.deliveryId === null ? {} : { idempotencyKey: keyOf(receiverId, named.deliveryId) }),
    fingerprint: SAME_DELIVERY,
  });
  if (outcome.problem !== null) {
    if (outcome.problem.detail === CHANGED) return 'changed';
    const told = refusedBecause(outcome.problem);
    list('refused', told.status, outcome.problem.code, null);
    return told;
  }
  const isRepeat = outcome.answer?.replayed === true;
  const unsure = verdict === 'unsure' ? 'filter_unsure' : null;
  list(
    isRepeat ? 'duplicate' : 'published',
    isRepeat ? 200 : 202,
    unsure,
    outcome.answer === null ? null : messageIdIn(outcome.answer.data),
  );
  return isRepeat ? receiptAnswer(200, requestId, 'duplicate') : receiptAnswer(202, requestId, 'published');
}

/** The delivery id is the sender's, of any length and characters. */
function keyOf(receiverId: string, deliveryId: string): string {
  return `${receiverId}:${hash('sha256', deliveryId, 'base64url')}`;
}

async function verdictOf(
  { filter }: Receiver,
  { headers, body, named }: { readonly headers: RawHead['headers']; readonly body: ReadBody; readonly named: Named },
) {
  if (filter === null) return 'passes';
  const { judge } = await import('./filters.ts');
  return judge(filter, { event: named.event, headers: keptHeaders(headers), body: body.value });
}

function refuseLong(
  arrived: Pick<ReceivedRequest, 'accountId' | 'receiverId' | 'requestId' | 'receivedMs' | 'bytes'>,
  list: (request: ReceivedRequest) => void,
): RawAnswer {
  const code = 'MESSAGE_TOO_LARGE';
  const nothing = { event: null, deliveryId: null, messageId: null, message: null };
  list({ ...arrived, ...nothing, outcome: 'refused', status: 413, code });
  return failure(413, code, `A message may have at most ${PARSED_BYTES_MAX} bytes.`);
}

function challengeAnswer(query: URLSearchParams, { verification }: Receiver): RawAnswer {
  const challenge = challengeOfGet(query, verification);
  if (challenge === 'refused')
    return failure(403, 'SIGNATURE_MISMATCH', 'hub.verify_token is not the secret of this receiver.');
  return (
    challenge ?? {
      ...failure(405, 'METHOD_NOT_ALLOWED', 'Send webhooks by POST.'),
      headers: { ...JSON_TYPE, allow: 'POST' },
    }
  );
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' } as const;

function receiptAnswer(status: number, requestId: string, outcome: RequestOutcome): RawAnswer {
  return { status, headers: JSON_TYPE, body: JSON.stringify({ received: true, request_id: requestId, outcome }) };
}

function failure(status: number, code: string, message: string, retryAfterMs: number | null = null): RawAnswer {
  const again: RawAnswer['headers'] =
    retryAfterMs === null ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
  return { status, headers: { ...JSON_TYPE, ...again }, body: JSON.stringify({ error: { code, message } }) };
}

function comeAgain(code: string, message: string, retryAfterMs = RETRY_LATER_MS): RawAnswer {
  return failure(503, code, message, retryAfterMs);
}

/** Of the request itself. All else may be mended, and the sender comes again. Nothing is said of the account. */
const keptStatuses: ReadonlySet<number> = new Set([400, 404, 405, 408, 411, 413, 414, 415, 417, 429, 431]);
/** Of publishing: the account's, whatever their status. */
const ofAccount: ReadonlySet<string> = new Set([
  'QUEUE_NOT_FOUND',
  'VALIDATION_FAILED',
  'INVALID_REQUEST',
  'NOT_FOUND',
]);

function refusalAtDoor({ code, httpStatus, message, retryAfterMs }: Problem): RawAnswer {
  if (keptStatuses.has(httpStatus)) return failure(httpStatus, code, message, retryAfterMs ?? null);
  return comeAgain('RECEIVER_UNAVAILABLE', 'The receiver cannot take the request now. Send it again.', retryAfterMs);
}

function refusedBecause(refusal: Problem): RawAnswer {
  if (!ofAccount.has(refusal.code)) return refusalAtDoor(refusal);
  return comeAgain('RECEIVER_UNAVAILABLE', 'The receiver cannot take the request now. Send it again.');
}
