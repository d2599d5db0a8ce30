// One request to a vendor with a JSON answer: bounded in time and bytes, and it never throws. It is sent once; only a failed connection is
// tried a second time.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { retryAfterMs } from '../../lib/retry-after.ts';
import type { HttpMethod } from '../http/port.ts';
import type { VendorReply } from './judge.ts';
import type { VendorCall } from './port.ts';

const ANSWER_BYTES_MAX = 1024 * 1024;

export interface Question {
  readonly method: HttpMethod;
  /** Whole; the key goes along only to the vendor's own origin, everything but that and `assetHosts` must be public. */
  readonly url: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a form as multipart/form-data. */
  readonly body?: FormData | Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
}

/** Asks once; a connection that fails is tried a second time. Each takes at most the time to connect and `timeoutMs`. */
export async function ask(call: VendorCall, question: Question): Promise<VendorReply> {
  const reply = await askOnce(call, question);
  const isUnconnected = reply.kind === 'failed' && !reply.sent && reply.code === 'connect';
  return isUnconnected ? askOnce(call, question) : reply;
}

async function askOnce(call: VendorCall, question: Question): Promise<VendorReply> {
  const { method, url, credentials, headers, body, timeoutMs } = question;
  const { connectMs } = call.timeouts;
  const isForm = body instanceof FormData;
  const reply = await call.outbound.send({
    method,
    url,
    credentials,
    headers: { accept: 'application/json', ...(body && !isForm && { 'content-type': 'application/json' }), ...headers },
    body: isForm || body === undefined ? (body ?? null) : JSON.stringify(body),
    operator: { origin: call.baseUrl, assetHosts: call.assetHosts },
    limits: {
      connectMs,
      firstByteMs: timeoutMs,
      idleMs: timeoutMs,
      totalMs: connectMs + timeoutMs,
      answerBytesMax: ANSWER_BYTES_MAX,
    },
    signal: call.signal,
  });
  if (reply.kind === 'failed') return reply;
  const { status } = reply;
  return { kind: 'answered', status, retryAfterMs: retryAfter(reply.headers), body: await json(reply.body) };
}

function retryAfter(headers: IncomingHttpHeaders): number | null {
  return retryAfterMs(headers['retry-after'] ?? null, Date.now());
}

/** What came of the body when it does not end, or is no JSON, says nothing beyond the status. */
async function json(body: Readable): Promise<unknown> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}
