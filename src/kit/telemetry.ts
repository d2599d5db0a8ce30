// Shared code of the telemetry routes (surfaces contract, sections 0 and 3): the credential and the back-off of clients. For OTLP/HTTP: content
// types, answers, failures, and the digest that identifies a request repeated within ten minutes.
import { hash } from 'node:crypto';
import protobuf from 'protobufjs/minimal.js';
import type { IdempotencyKey } from '../core/callers/idempotency-key.ts';
import type { Credential, CredentialHead } from '../core/credentials/credential.ts';
import { basic, bearer } from '../core/credentials/http-schemes.ts';
import type { Encoding } from '../core/inflate.ts';
import { OtlpError } from '../lib/otlp/values.ts';
import { sharedProblems } from '../problems/catalogue.ts';
import { type Problem, problem } from '../problems/problem.ts';
import type { BodyTask, RawAnswer, RawHead, RawRequest, RawRoute } from './raw-route.ts';
import type { CallContext } from './services.ts';

const MIB = 1024 * 1024;
/** Of telemetry, as sent and without its content encoding. */
export const TELEMETRY_BYTES_MAX = 8 * MIB;
export const telemetryEncodings: readonly Encoding[] = ['gzip', 'zstd', 'deflate'];
/** An exporter repeats within minutes what timed out. */
export const DIGEST_KEEP_MS = 10 * 60_000;
const NO_CREDIT_WAIT_MS = 60_000;

/** The key as bearer token, or as the password of Basic. */
export function telemetryCredential(head: Pick<CredentialHead, 'headers'>): Credential | null {
  return bearer(head) ?? basic('password', head);
}

/** No client of telemetry knows 402: it is told as 429, and to come again in a minute. */
export function telemetryStatus({ httpStatus, retryAfterMs }: Problem): {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
} {
  const status = httpStatus === 402 ? 429 : httpStatus;
  const waitMs = httpStatus === 402 ? NO_CREDIT_WAIT_MS : (retryAfterMs ?? NO_CREDIT_WAIT_MS);
  if (status !== 429 && status !== 503) return { status, headers: {} };
  return { status, headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) } };
}

/** What of a failure may be told: an internal one says nothing of its cause. */
export function telemetrySentence({ code, message }: Problem): string {
  return code === 'INTERNAL_ERROR' ? sharedProblems.INTERNAL_ERROR.title : message;
}

/** A failure as a line of text, for protocols that have no form for one. */
export function refuseAsText(failure: Problem, { requestId }: RawHead): RawAnswer {
  const { status, headers } = telemetryStatus(failure);
  return {
    status,
    headers: { ...headers, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    body: `${failure.code}: ${telemetrySentence(failure)} (request ${requestId})\n`,
  };
}

/** The body without its encoding, in one piece that may be given to `request.read`. */
export async function wholeBody(blocks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const block of blocks) parts.push(block);
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
}

/** What a task made of a body, and the digest of the body. */
export interface Digested<Read> {
  readonly digest: string;
  readonly read: Read;
}

/** A task that reads telemetry. `read` throws OtlpError for what the body should not be. */
export function telemetryTask<Read>(
  of: Pick<BodyTask<unknown>, 'source' | 'id'>,
  read: (body: Buffer) => Read,
): BodyTask<Digested<Read>> {
  return {
    ...of,
    run: (body) => {
      const digest = hash('sha256', body, 'base64url').slice(0, 22);
      try {
        return { digest, read: read(body) };
      } catch (error) {
        if (!(error instanceof OtlpError)) throw error;
        throw problem('INVALID_REQUEST', { message: `The body cannot be read: ${error.message}.`, cause: error });
      }
    },
  };
}

/** The JSON value that a body is. Throws OtlpError. */
export function jsonOfBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new OtlpError('it is not valid JSON', { cause: error });
  }
}

/** The idempotency key of a request without one of its own. */
export function digestKey({ core, capability }: CallContext, digest: string): IdempotencyKey {
  const raw = `digest:${digest}`;
  return { raw, hash: core.secrets.idempotencyHash(capability, raw), fingerprint: digest };
}

/** What was taken of an OTLP request. */
export interface OtlpTaken {
  readonly rejected: number;
  /** Why; empty when nothing is rejected and there is nothing to say. */
  readonly message: string;
  readonly costNanos?: bigint;
}

export interface OtlpSignal<State, Read> {
  /** In metrics and the log. */
  readonly name: string;
  /** `/v1/logs`, and the like. */
  readonly path: string;
  readonly capability: string;
  /** What partialSuccess counts: `rejectedLogRecords`. */
  readonly rejectedName: string;
  readonly protobuf: BodyTask<Digested<Read>>;
  readonly json: BodyTask<Digested<Read>>;
  /** Refuses before the body is decoded. */
  check?(ctx: CallContext, state: State): Promise<void>;
  take(ctx: CallContext, sent: Digested<Read>, state: State): Promise<OtlpTaken>;
}

/** The route of one signal (OTLP specification 1.7, section OTLP/HTTP). */
export function otlpRoute<State, Read>(signal: OtlpSignal<State, Read>): RawRoute<State> {
  const { name, path, capability } = signal;
  return {
    name,
    methods: ['POST'],
    path,
    capability,
    bodyBytesMax: TELEMETRY_BYTES_MAX,
    encodings: telemetryEncodings,
    inflatedBytesMax: TELEMETRY_BYTES_MAX,
    credentialOf: telemetryCredential,
    answer: (request, state) => takeOtlp(signal, request, state),
    refuse: refuseOtlp,
  };
}

async function takeOtlp<State, Read>(
  signal: OtlpSignal<State, Read>,
  request: RawRequest,
  state: State,
): Promise<RawAnswer> {
  const ctx = request.ctx ?? (await request.admit(null));
  const isJson = speaksJson(request);
  if (!isJson && mediaTypeOf(request) !== PROTOBUF) {
    throw problem('UNSUPPORTED_MEDIA_TYPE', { message: `The content type must be ${PROTOBUF} or ${JSON_TYPE}.` });
  }
  await signal.check?.(ctx, state);
  const task = isJson ? signal.json : signal.protobuf;
  const sent = await request.inflate(async (blocks) => request.read(task, await wholeBody(blocks)));
  return answerOtlp(await signal.take(ctx, sent, state), signal.rejectedName, isJson);
}

const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json';

function mediaTypeOf({ headers }: Pick<RawHead, 'headers'>): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function speaksJson(head: Pick<RawHead, 'headers'>): boolean {
  return mediaTypeOf(head) === JSON_TYPE;
}

/** ExportLogsServiceResponse, and those of the other signals: they differ in one name only. */
function answerOtlp({ rejected, message, costNanos }: OtlpTaken, rejectedName: string, isJson: boolean): RawAnswer {
  const isPartial = rejected > 0 || message !== '';
  const cost = costNanos === undefined ? {} : { costNanos };
  if (isJson) {
    const partialSuccess = { [rejectedName]: String(rejected), errorMessage: message };
    return { ...jsonAnswer(200, isPartial ? { partialSuccess } : {}), ...cost };
  }
  const out = protobuf.Writer.create();
  if (isPartial)
    out.uint32(PARTIAL_SUCCESS).fork().uint32(REJECTED).int64(rejected).uint32(MESSAGE).string(message).ldelim();
  return { ...protobufAnswer(200, out), ...cost };
}

const PARTIAL_SUCCESS = (1 << 3) | 2;
const REJECTED = 1 << 3;
const MESSAGE = (2 << 3) | 2;

/** google.rpc.Code of a status of HTTP. */
const rpcCodes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 10,
  413: 8,
  415: 3,
  429: 8,
  500: 13,
  503: 14,
};
const UNKNOWN_CODE = 2;
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const DOMAIN = 'quartermaster';

/** google.rpc.Status with an ErrorInfo that has our code and the request's ID. */
function refuseOtlp(failure: Problem, head: RawHead): RawAnswer {
  const { status, headers } = telemetryStatus(failure);
  const code = rpcCodes[status] ?? UNKNOWN_CODE;
  const message = telemetrySentence(failure);
  const { requestId } = head;
  const answer = speaksJson(head)
    ? jsonAnswer(status, {
        code,
        message,
        details: [{ '@type': ERROR_INFO, reason: failure.code, domain: DOMAIN, metadata: { request_id: requestId } }],
      })
    : protobufAnswer(status, writeStatus(code, message, failure.code, requestId));
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

const TEXT = (field: number) => (field << 3) | 2;

function writeStatus(code: number, message: string, reason: string, requestId: string): protobuf.Writer {
  const info = protobuf.Writer.create().uint32(TEXT(1)).string(reason).uint32(TEXT(2)).string(DOMAIN);
  info.uint32(TEXT(3)).fork().uint32(TEXT(1)).string('request_id').uint32(TEXT(2)).string(requestId).ldelim();
  const out = protobuf.Writer.create()
    .uint32(1 << 3)
    .int32(code)
    .uint32(TEXT(2))
    .string(message);
  out.uint32(TEXT(3)).fork().uint32(TEXT(1)).string(ERROR_INFO).uint32(TEXT(2)).bytes(info.finish()).ldelim();
  return out;
}

function jsonAnswer(status: number, value: object): RawAnswer {
  return {
    status,
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store' },
    body: JSON.stringify(value),
  };
}

function protobufAnswer(status: number, out: protobuf.Writer): RawAnswer {
  return {
    status,
    headers: { 'content-type': PROTOBUF, 'cache-control': 'no-store' },
    body: Buffer.from(out.finish()),
  };
}
