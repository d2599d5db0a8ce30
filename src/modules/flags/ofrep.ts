// Routes of the OpenFeature Remote Evaluation Protocol (OFREP 0.3). A provider needs the address `{base_url}/v1/flags` and a key; a page key can
// only evaluate. Server-Sent Events carry only the fact of a change: EventSource sends no headers, so the address holds a token. The token can
// only listen; it expires within a day, and with the key that requested it.

import { createHash } from 'node:crypto';
import Type from 'typebox';
import type { Principal } from '../../core/callers/principal.ts';
import { apiKeyHeader, bearer } from '../../core/credentials/http-schemes.ts';
import { clockNow } from '../../core/database-clock.ts';
import { type Context, checkContext } from '../../kit/json-logic/cost.ts';
import { CONTEXT } from '../../kit/json-logic/limits.ts';
import { json, jsonFields } from '../../kit/openai-wire.ts';
import { pageKeySentence, pageRoute, requirePageKey } from '../../kit/page-access.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import type { CallContext, Services } from '../../kit/services.ts';
import { mayFollow, streamAnswer } from '../../kit/tail.ts';
import { telemetrySentence, telemetryStatus } from '../../kit/telemetry.ts';
import { eventText } from '../../lib/event-stream.ts';
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import { invalidField, type Problem } from '../../problems/problem.ts';
import { EVALUATE, evaluateFlags } from './capabilities/evaluate.ts';
import { accountOf } from './flags/store.ts';
import { STREAMS_MAX, STREAMS_OF_ACCOUNT_MAX } from './limits.ts';
import { problem } from './problems.ts';
import type { Evaluation } from './serving/served-flag.ts';
import type { FlagsState } from './serving/served-flags.ts';

const ROOT = '/v1/flags/ofrep/v1/evaluate/flags';
/** Of a body beside its context. */
const BESIDE_BYTES = 1_024;
const KIND = 'listen';
/** A client that asked just before a change, and listens only now, is told of it. */
const RECENT_MS = 60_000;
/** Whether its key still is one is looked at so often. */
const CHECK_EVERY_MS = 30_000;

const access = {
  headers: 'Authorization, Content-Type, If-None-Match, Last-Event-ID, Cache-Control, traceparent',
  exposed: 'ETag, Retry-After, X-Request-Id',
};

const shared: Omit<RawRoute<FlagsState>, 'path' | 'answer'> = {
  name: 'flags.ofrep',
  methods: ['POST'],
  capability: EVALUATE,
  refuse: refusal,
  bodyBytesMax: CONTEXT.bytesMax + BESIDE_BYTES,
  credentialOf(head) {
    const credential = bearer(head) ?? apiKeyHeader(head);
    if (credential === null) throw problem('UNAUTHORIZED');
    return credential;
  },
};
export const ofrepRoutes: readonly RawRoute<FlagsState>[] = [
  pageRoute(access, { ...shared, path: `${ROOT}/{key}`, answer: one }),
  pageRoute(access, { ...shared, path: ROOT, answer: all }),
  pageRoute(access, {
    name: 'flags.stream',
    methods: ['GET'],
    path: '/v1/flags/stream',
    capability: null,
    refuse: refusal,
    stream: 'answer',
    bodyBytesMax: 1_024,
    answer: listen,
    eventStream: {
      summary: 'Tells when flags changed, to whoever holds the token that POST /ofrep/v1/evaluate/flags answers.',
      query: Type.Object({
        token: Type.String({ description: 'In place of a key; the answer has the whole address.' }),
      }),
      event: '{type: "refetchEvaluation", etag}.',
      reads: EVALUATE,
    },
  }),
];

async function one(request: RawRequest, state: FlagsState): Promise<RawAnswer> {
  const { ctx, context } = readContext(request);
  let status = 200;
  const keys = [request.params.key ?? ''];
  const [text = ''] = await evaluateFlags(ctx, state, { keys, context }, (evaluation) => {
    const { errorCode } = evaluation;
    status = errorCode === null ? 200 : errorCode === 'FLAG_NOT_FOUND' ? 404 : 400;
    return evaluationText(evaluation);
  });
  return json(text, status);
}

/** Flags that are off are told too, without a value. */
async function all(request: RawRequest, state: FlagsState): Promise<RawAnswer> {
  const { ctx, context } = readContext(request);
  const told = /^"?(\d{1,15})"?$/.exec(request.query.get('flagConfigEtag') ?? '')?.[1];
  if (told !== undefined) await state.served.atLeast(ctx.accountId, BigInt(told));
  const texts = await evaluateFlags(ctx, state, { keys: null, context }, evaluationText);
  const body = `{"flags":[${texts.join(',')}]`;
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: { etag }, body: '' };
  const streams = [{ type: 'sse', url: streamUrl(state, ctx) }];
  return json(`${body},"eventStreams":${JSON.stringify(streams)}}`, 200, { etag });
}

/** Everybody can read the key of a page. */
function readContext({ ctx: admitted, headers, body }: RawRequest) {
  const ctx = admitted as CallContext;
  if (headers.origin !== undefined) requirePageKey(ctx.core, ctx.principal, 'flags', EVALUATE);
  const { context = {} } = body.length === 0 ? {} : jsonFields(body);
  if (typeof context !== 'object' || context === null || Array.isArray(context))
    throw invalidField('context', 'type', 'The context must be a JSON object.');
  checkContext(context as Context, body.length - BESIDE_BYTES);
  return { ctx, context: context as Context };
}

const details: Readonly<Record<string, string>> = {
  FLAG_NOT_FOUND: 'There is no flag with this key.',
  GENERAL: 'The rule does not answer the name of a variant.',
  PARSE_ERROR: 'The rule cannot be read.',
};

/** Without a value the code that asks uses its own default. */
function evaluationText({ key, value, variant, reason, errorCode, metadata }: Evaluation): string {
  const name = JSON.stringify(key);
  if (errorCode !== null)
    return `{"key":${name},"errorCode":"${errorCode}","errorDetails":${JSON.stringify(details[errorCode] ?? errorCode)}}`;
  const chosen = value === null ? '' : `"value":${value},"variant":${JSON.stringify(variant)},`;
  return `{"key":${name},${chosen}"reason":"${reason}","metadata":${metadata}}`;
}

/** Bodies as OFREP has them, with our code and the request's id beside. */
function refusal(failure: Problem, { requestId, params }: RawHead): RawAnswer {
  const { code, param } = failure;
  const { status, headers } = telemetryStatus(failure);
  const isOfContext = param?.startsWith('context') === true;
  const errorCode = isOfContext ? 'INVALID_CONTEXT' : code === 'MALFORMED_JSON' ? 'PARSE_ERROR' : 'GENERAL';
  const errorDetails =
    code === 'INSUFFICIENT_SCOPE' ? pageKeySentence('flags', 'flags.evaluate') : telemetrySentence(failure);
  const body = { key: params.key, errorCode, errorDetails, code, request_id: requestId };
  // Providers read the body of 400, 404 and 500 alone; what else is wrong with the request is 400 to them.
  return json(body, [401, 403, 413, 429].includes(status) || status >= 500 ? status : 400, headers);
}

/** The same for an hour: a client that is given another address connects anew. */
function streamUrl({ core, tokens }: FlagsState, { accountId, principal }: CallContext): string {
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + DAY_MS;
  return `${core.baseUrl}/v1/flags/stream?token=${tokens.write(KIND, [accountId, principal.id, endMs])}`;
}

async function listen(request: RawRequest, { core, tokens, served }: FlagsState): Promise<RawAnswer> {
  const [accountId, keyId, endMs] = tokens.read(KIND, request.query.get('token') ?? '') ?? [];
  const [principal, nowMs] = await Promise.all([listener(core, String(accountId), String(keyId)), clockNow(core.db)]);
  if (principal === null || Number(endMs) <= Date.now()) {
    const message = 'The token of the stream is wrong or has expired: evaluate all flags to get another.';
    throw problem('UNAUTHORIZED', { message });
  }
  await request.identify({ find: async () => principal });
  await request.rate();
  const { revision, changedMs } = await accountOf(core.db, principal);
  const heard = request.headers['last-event-id'];
  const isBehind = heard === undefined ? nowMs - changedMs < RECENT_MS : heard !== String(revision);
  let known = isBehind ? null : revision;
  const by = { core, principal, accountId: principal.accountId, capability: EVALUATE };
  return streamAnswer(request, by, {
    kind: 'flag streams',
    noun: 'flags',
    accountMax: STREAMS_OF_ACCOUNT_MAX,
    allMax: Math.min(STREAMS_MAX, core.bounds.all.streams / 2),
    checkEveryMs: CHECK_EVERY_MS,
    endMs: Number(endMs),
    async *next(signal) {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(CHECK_EVERY_MS)]);
      const now = await served.revisionAfter(by.accountId, known, ended);
      if (now === null) return;
      known = now;
      const id = String(now);
      yield eventText({ id, data: JSON.stringify({ type: 'refetchEvaluation', etag: id }) });
    },
  });
}

/** The key that got the token, as it is now; null: it has ended, may evaluate no more, or belongs to another account by now. */
async function listener({ keys }: Services, accountId: string, keyId: string): Promise<Principal | null> {
  const [current] = await keys.secretsOf(keyId);
  const found = current === undefined ? 'unknown' : await keys.findByHash(current);
  return typeof found !== 'string' && found.accountId === accountId && mayFollow(found, EVALUATE) ? found : null;
}
