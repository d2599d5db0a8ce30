// What the request log gets of each call: all of failures, slow calls and writes to the account itself; of short calls a sample.

import { INPUT_BYTES_MAX, type LoggedCall } from '../core/requests/entry.ts';
import { SLOW_MS } from '../core/requests/store.ts';
import type { Answer } from '../kit/capability.ts';
import type { CallContext } from '../kit/services.ts';
import { networkOf } from '../lib/network-of.ts';
import { secretPaths } from '../manifest/secret-fields.ts';
import type { Problem } from '../problems/problem.ts';
import type { Sender } from './active-request.ts';
import type { Endpoint } from './endpoint.ts';

/** A call that has ended, as the log looks at it. */
interface EndedCall
  extends Pick<CallContext, 'accountId' | 'requestId' | 'traceId' | 'entryForm' | 'principal' | 'inputText'> {
  readonly core: Pick<CallContext['core'], 'requests'>;
  readonly endpoint: Pick<Endpoint, 'capability' | 'isAudited'>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly sender: Sender | null;
  readonly answer: Answer | null;
  readonly spentNanos: bigint;
  readonly bytesIn: number | null;
  readonly body: Buffer | null;
}

export interface CallEnd {
  readonly status: number;
  readonly failure: Problem | null;
  readonly latencyMs: number;
  /** Of the answer; null: it went out piece by piece, or nobody counts it. */
  readonly text: string | Buffer | null;
}

/** Called once for each call that somebody made from outside. */
export function logCall(call: EndedCall, end: CallEnd): void {
  const { capability, isAudited: isAudit } = call.endpoint;
  const { status, latencyMs } = end;
  const isKept = status >= 400 || isAudit || (latencyMs >= SLOW_MS && capability.waits !== true);
  const { requests } = call.core;
  if (isKept) {
    if (isAudit || !requests.isFull(call.accountId)) requests.add(loggedCall(call, end));
    return;
  }
  // What a page of the console reads for its visitor is no call of the account's programs.
  const isOfPage = call.entryForm === 'console' && capability.scope === 'read';
  if (!isOfPage && requests.samples(call.accountId)) requests.addShort(loggedCall(call, end));
}

function loggedCall(call: EndedCall, { status, latencyMs, failure: problem, text }: CallEnd): LoggedCall {
  const { sender, answer } = call;
  const { capability, isAudited: isAudit } = call.endpoint;
  const failure = status >= 400 ? problem : null;
  return {
    accountId: call.accountId,
    requestId: call.requestId,
    traceId: call.traceId,
    callerId: call.principal.id,
    capability: capability.id,
    entryForm: call.entryForm,
    status,
    latencyMs: Math.round(latencyMs),
    method: sender?.method ?? capability.method,
    path: sender?.path ?? capability.path,
    code: failure?.code ?? null,
    message: failure === null ? null : messageOf(failure),
    param: failure?.param ?? null,
    costNanos: (answer?.costNanos ?? 0n) + call.spentNanos,
    bytesIn: call.bytesIn ?? sender?.bodyBytes ?? null,
    bytesOut: text === null ? null : Buffer.byteLength(text),
    replay: answer?.replayed === true,
    vendor: answer?.served?.vendor ?? null,
    input: status >= 400 || isAudit ? inputOf(call) : null,
    secretFields: secretPaths(capability),
    address: sender === null ? null : maskedAddress(sender.remoteAddress),
    endedMs: performance.now(),
    isAudit,
    seq: null,
  };
}

/** A vendor's words may quote the prompt, of which the log has only the input (vendors/call/judge.ts writes them behind a colon). */
function messageOf({ code, message }: Problem): string | null {
  return code === 'INTERNAL_ERROR' ? null : message.replace(/^(The vendor refuses [\w ]+): [\s\S]*$/, '$1.');
}

/** Null of a long one. */
function inputOf({ inputText, input, body, endpoint }: EndedCall): string | null {
  if (body !== null) return body.toString();
  if (endpoint.capability.bulk !== undefined) return null;
  const text = inputText === '' && Object.keys(input).length > 0 ? JSON.stringify(input) : inputText;
  // A text of its own: one that was cut from a long message keeps all of that in memory.
  return text === '' || text.length > INPUT_BYTES_MAX ? null : Buffer.from(text).toString();
}

/** Without the last byte of IPv4; of IPv6 the /64. */
function maskedAddress(address: string): string {
  return networkOf(address).replace(/(\d+\.\d+\.\d+)\.\d+$/, '$1.0');
}

/** What the log may show of a body; null of one that it would not keep. */
export function shortBody(body: Buffer | undefined): Buffer | null {
  return body === undefined || body.length === 0 || body.length > INPUT_BYTES_MAX ? null : body;
}
