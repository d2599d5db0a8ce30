// Shared code of language-model adapters: one POST of JSON, its answer as JSON or as server-sent events, and the meaning of its failures.

import type { Readable } from 'node:stream';
import type { WireObject } from '../../../lib/chat/body.ts';
import { nesting } from '../../../lib/json-source.ts';
import { encodeJson } from '../../../lib/long-json.ts';
import { retryAfterMs } from '../../../lib/retry-after.ts';
import { fieldsOf, numberAt } from '../../../vendors/call/answer.ts';
import { judge, type VendorError, type VendorReply } from '../../../vendors/call/judge.ts';
import type { NotSent, Refused } from '../../../vendors/call/port.ts';
import type { OutboundReply } from '../../../vendors/http/port.ts';
import type { AiCall, ChatRequest } from './port.ts';

/** Of one answer, streamed or not: embeddings as floats are the longest. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** Of a chat in one piece: reading so much JSON takes some 20 ms, in which nothing else goes on. */
const CHAT_BYTES_MAX = 4 * 1024 * 1024;
/** Of one beside its tokens: a picture, quotations. */
const CHAT_BYTES_BESIDE = 1024 * 1024;
const BYTES_PER_TOKEN = 64;
const BYTES_PER_LOGPROB = 200;
/** JSON of vendors: more takes long to read for its size, or cannot be written again. */
const JSON_MAX = { depth: 64, containers: 200_000, members: 300_000 };
/** Shorter texts are never so much. */
const PLAIN_CHARACTERS_MAX = 4 * 1024;
/** Of an error. */
const ERROR_BYTES_MAX = 64 * 1024;

export interface AiQuestion {
  readonly url: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: WireObject;
}

/** Reads a vendor's error body; null when the body is not the vendor's. */
export type ReadError = (body: unknown, status: number) => VendorError | null;

export type Asked =
  /** Accepted: the head of the answer says so. */
  { readonly kind: 'answering'; readonly isStream: boolean; readonly body: Readable } | Refused | NotSent;

/** Asks once; a connection that fails is tried a second time. */
export async function askVendor(call: AiCall, question: AiQuestion, readError: ReadError): Promise<Asked> {
  let reply = await post(call, question);
  if (reply.kind === 'failed' && !reply.sent && reply.code === 'connect') reply = await post(call, question);
  if (reply.kind === 'failed') return refusedBy(call, reply, null);
  const { status, headers, body } = reply;
  const type = headers['content-type'] ?? '';
  if (status >= 200 && status < 300) {
    call.markAccepted();
    return { kind: 'answering', isStream: /^text\/event-stream\b/i.test(type), body };
  }
  const said = await readJson(body, ERROR_BYTES_MAX);
  const retryMs = retryAfterMs(headers['retry-after'] ?? null, Date.now());
  return refusedBy(call, { kind: 'answered', status, retryAfterMs: retryMs, body: said }, readError(said, status));
}

async function post(call: AiCall, { url, credentials, headers, body }: AiQuestion): Promise<OutboundReply> {
  const { connectMs, firstContentMs, idleMs, totalMs } = call.timeouts;
  return call.outbound.send({
    method: 'POST',
    url,
    credentials,
    signal: call.signal,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: await encodeJson(body),
    operator: { origin: call.baseUrl, assetHosts: call.assetHosts },
    limits: { connectMs, firstByteMs: firstContentMs, idleMs, totalMs, answerBytesMax: ANSWER_BYTES_MAX },
  });
}

/** What came to nothing means the same for a call that is waited for as long as it takes. */
export function refusedBy(call: AiCall, reply: VendorReply, error: VendorError | null): Refused | NotSent {
  const verdict = judge(reply, error, { awaits: 'answer', key: call.key });
  if (verdict.kind === 'unknown') throw new Error('an awaited answer has no unknown outcome');
  return verdict;
}

/** A number of tokens, as a stranger says it: whole, and never below zero. */
export function countAt(value: unknown, path: string): number | null {
  const said = numberAt(value, path);
  return said === null ? null : Math.min(Math.max(0, Math.ceil(said)), Number.MAX_SAFE_INTEGER);
}

/** The whole of an answer as JSON; undefined when it is none, is too long, or did not come to its end. */
export async function readJson(body: Readable, bytesMax: number): Promise<unknown> {
  const bytes = await readBytes(body, bytesMax);
  return bytes === null ? undefined : parseVendorJson(bytes.toString('utf8'));
}

/** Null when there are more, or they did not come to their end. */
export async function readBytes(body: Readable, bytesMax: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bytesMax) return null;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    return null;
  }
}

/** JSON of a vendor; undefined when it is none, or has too much in it. */
export function parseVendorJson(text: string): unknown {
  if (text.length > PLAIN_CHARACTERS_MAX) {
    const { depth, containers, members } = nesting(text);
    if (depth > JSON_MAX.depth || containers > JSON_MAX.containers || members > JSON_MAX.members) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a chat that comes in one piece may have of bytes, by what it may have of tokens. */
export function chatBytesMax({ body, outputTokensMax }: Pick<ChatRequest, 'body' | 'outputTokensMax'>): number {
  const choices = Math.max(1, Number(body.n ?? 1));
  const logprobs = body.logprobs === true ? 1 + Number(body.top_logprobs ?? 0) : 0;
  const perToken = BYTES_PER_TOKEN + logprobs * BYTES_PER_LOGPROB;
  return Math.min(CHAT_BYTES_BESIDE + choices * outputTokensMax * perToken, CHAT_BYTES_MAX);
}

/** An answer that is not what the protocol promises. */
export function unreadable(call: AiCall, body: unknown): Refused {
  return refusedBy(call, { kind: 'answered', status: 200, retryAfterMs: null, body }, null) as Refused;
}

/** An error inside an accepted answer: as if it had come with its own status. */
export function errorInside(call: AiCall, body: unknown, readError: ReadError): Refused {
  const inner = fieldsOf(fieldsOf(body)?.error);
  const said = Number(inner?.code ?? inner?.status);
  const status = Number.isInteger(said) && said >= 400 && said < 600 ? said : 500;
  return refusedBy(call, { kind: 'answered', status, retryAfterMs: null, body }, readError(body, status)) as Refused;
}
