// One call through a connection, whatever door it came in by: the rule, its limits, the approval, the money; then the request with the
// credential, and the answer without it.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { beginWork, priceOfCall } from '../../../core/wallet/charge/charge.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { Problem } from '../../../problems/problem.ts';
import type { OutboundReply } from '../../../vendors/http/port.ts';
import type { KnownForms } from '../answers/known-forms.ts';
import { SecretSearch, searchText } from '../answers/search.ts';
import { undoEncoding, withoutSecrets } from '../answers/undo.ts';
import {
  type Credential,
  openCredential,
  openHeaders,
  secretHeaderTexts,
  secretTexts,
} from '../connections/credential.ts';
import type { Connection } from '../connections/row.ts';
import { editionOf, refusalOf } from '../connections/rule.ts';
import { APPROVAL_MS, LOST_AFTER_MS, ROW_BYTES, STREAM_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import type { VaultState } from '../state.ts';
import { beginCall, type NewCall } from './begin.ts';
import { countsAt, limitRefusal } from './counts.ts';
import { endCall, LOST_ANSWER, type OpenHold } from './end.ts';
import type { Endings } from './endings.ts';
import { outgoingOf, type Sent } from './outgoing.ts';
import type { Found } from './url.ts';

export interface RelayLimits {
  /** Until the answer begins. */
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  /** Content codings that the caller reads after us; `identity` where none is wanted. */
  readonly encodings: string;
}

/** An answer of a target, without what speaks for the connection. */
export interface TargetAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  /** To be read to its end, or returned to. Fails with VENDOR_TIMEOUT where the target breaks off. */
  readonly body: AsyncIterable<Buffer>;
}

export type Opened =
  | { readonly kind: 'open'; readonly call: RelayedCall }
  /** An earlier call with the key: what it answered. */
  | { readonly kind: 'replayed'; readonly text: string };

export interface Asking {
  readonly found: Found;
  readonly sent: Sent;
  readonly limits: RelayLimits;
}

/** Begins a call. Throws RULE_REFUSED, CONNECTION_BROKEN, what an approval and the lane throw; none of these costs anything. */
export async function openCall(ctx: CallContext, state: VaultState, { found, sent, limits }: Asking): Promise<Opened> {
  const { accountId, principal } = ctx;
  const { connection, nowMs } = found;
  const { connection: name } = connection;
  const { method, target, isMessage = false } = sent;
  const ruled = { keyId: principal.id, method, target, isMessage };
  const refusal =
    refusalOf(connection, ruled, nowMs) ?? limitRefusal(connection.row, countsAt(connection.row, nowMs), nowMs);
  if (refusal !== null) throw refusal;
  if (isAskedAbout(connection, method)) {
    await ctx.askFirst({ name: `vault/${name}`, expiresMs: APPROVAL_MS, binds: editionOf(connection) });
  }
  await state.tokens.refresh(connection, nowMs, ctx.signal);
  const call: NewCall = {
    ...ruled,
    callId: newId('vcl_', nowMs),
    connection: name,
    edition: editionOf(connection),
    lostAfterMs: limits.totalMs + LOST_AFTER_MS,
    begun: { connection: null, holdId: null },
  };
  const nanos = priceOfCall(ctx, 1n);
  const begun = await beginWork(ctx, {
    units: 1n,
    amountNanos: nanos,
    owner: `vault:${call.callId}`,
    answersAtEnd: true,
    effect: beginCall,
    input: call,
    sequences: 0,
    bytes: ROW_BYTES,
    rows: 1,
  });
  if (begun.replayed) return { kind: 'replayed', text: begun.data.text };
  const { connection: under, holdId } = call.begun;
  if (under === null || holdId === null) throw new Error(`${call.callId} began without its connection`);
  const hold = { accountId, callId: call.callId, holdId, nanos };
  return {
    kind: 'open',
    call: new RelayedCall(ctx, state, {
      hold,
      connection: under,
      sent,
      limits,
      balanceNanos: begun.balanceNanos,
    }),
  };
}

/** As in allow, GET includes HEAD. */
function isAskedAbout({ approve }: Connection, method: string): boolean {
  return approve.some((each) => each === '*' || each === method || (each === 'GET' && method === 'HEAD'));
}

interface Begun {
  readonly hold: OpenHold;
  readonly connection: Connection;
  readonly sent: Sent;
  readonly limits: RelayLimits;
  readonly balanceNanos: bigint;
}

export class RelayedCall {
  readonly #ctx: CallContext;
  readonly #known: KnownForms;
  readonly #endings: Endings;
  readonly #begun: Begun;
  readonly #startedMs = performance.now();
  #status: number | null = null;
  #bytesIn = 0;
  #bytesOut = 0;
  #search: SecretSearch | null = null;
  #foundInHead = false;
  #hasEnded = false;

  constructor(ctx: CallContext, { forms, endings }: VaultState, begun: Begun) {
    this.#ctx = ctx;
    this.#known = forms;
    this.#endings = endings;
    this.#begun = begun;
  }

  get callId(): string {
    return this.#begun.hold.callId;
  }

  get costNanos(): bigint {
    return this.#begun.hold.nanos;
  }

  get balanceNanos(): bigint {
    return this.#begun.balanceNanos;
  }

  get latencyMs(): number {
    return Math.round(performance.now() - this.#startedMs);
  }

  /** The target has told the secret, or a form of it: it was taken out. */
  get foundSecret(): boolean {
    return this.#foundInHead || this.#search?.found === true;
  }

  /** Sends the request. A failure ends the call: throws TARGET_REJECTED, TARGET_FAILED, VENDOR_TIMEOUT, CONNECTION_BROKEN. */
  async send(): Promise<TargetAnswer> {
    try {
      return await this.#send();
    } catch (error) {
      const code = error instanceof Problem ? error.code : 'INTERNAL_ERROR';
      // What was answered has been sent.
      if (this.#status !== null) await this.end(code);
      else if (!this.#hasEnded) await this.#giveBack(code);
      throw error;
    }
  }

  async #send(): Promise<TargetAnswer> {
    const { core, signal } = this.#ctx;
    const { connection, sent, limits } = this.#begun;
    const { credential, added, sealed } = this.#open(connection);
    const { content, bytes } = sent.body();
    this.#bytesOut = Buffer.isBuffer(content) ? content.length : (bytes ?? 0);
    const { url, headers } = outgoingOf(sent, content, credential, {
      field: connection.field,
      added,
      encodings: limits.encodings,
    });
    const reply = await core.outbound.send({
      url,
      method: sent.method as 'GET',
      credentials: headers,
      body: content,
      ...(bytes === undefined ? {} : { bodyBytes: bytes }),
      limits: {
        firstByteMs: limits.firstByteMs,
        idleMs: limits.idleMs,
        totalMs: limits.totalMs,
        answerBytesMax: STREAM_BYTES_MAX,
        bodyBytesMax: STREAM_BYTES_MAX,
      },
      signal,
    });
    if (reply.kind === 'failed') throw await this.#failureOf(reply);
    this.#status = reply.status;
    const forms = this.#known.of([sealed, connection.headers], () => [
      ...secretTexts(credential),
      ...secretHeaderTexts(added),
    ]);
    this.#search = new SecretSearch(forms);
    const { body, isUnknown } = undoEncoding(reply.headers['content-encoding'], reply.body);
    if (isUnknown) {
      reply.body.destroy();
      await this.end('TARGET_FAILED');
      throw problem('TARGET_FAILED', {
        detail: 'protocol',
        message: 'The answer has a content coding that was not asked for.',
      });
    }
    return {
      status: reply.status,
      headers: this.#answerHeaders(reply.headers, forms),
      body: this.#countBytes(body, this.#search),
    };
  }

  #open(connection: Connection): { credential: Credential; added: Record<string, string>; sealed: Buffer } {
    const { core } = this.#ctx;
    try {
      const { sealed } = connection;
      if (sealed === null) throw new Error('the connection has no credential');
      const credential = openCredential(core.secrets, connection, sealed);
      return { credential, added: openHeaders(core.secrets, connection, connection.headers), sealed };
    } catch (cause) {
      const message = 'The credential does not belong to the connection as it stands: set it anew.';
      throw problem('CONNECTION_BROKEN', { detail: 'seal', message, cause });
    }
  }

  /** What surely has not reached the target costs nothing. */
  async #failureOf(reply: OutboundReply & { kind: 'failed' }): Promise<Problem> {
    if (!reply.sent) {
      const failure =
        reply.code === 'refused'
          ? problem('TARGET_REJECTED', { message: reply.message })
          : problem('TARGET_FAILED', {
              detail: reply.code,
              message: `The target could not be reached: ${reply.message}`,
            });
      await this.#giveBack(failure.code);
      return failure;
    }
    await this.end(this.#ctx.signal.aborted ? 'CLIENT_LEFT' : 'VENDOR_TIMEOUT');
    return noAnswer(reply.message);
  }

  #answerHeaders(headers: IncomingHttpHeaders, forms: readonly Buffer[]): Record<string, string | string[]> {
    const withoutSecret = (text: string) => {
      const { text: shown, found } = searchText(forms, text);
      this.#foundInHead ||= found;
      return shown;
    };
    const kept = Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !HOP_BY_HOP.has(name) && !this.#tellsSecret(name, forms),
    );
    return Object.fromEntries(
      kept.map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map(withoutSecret) : withoutSecret(String(value)),
      ]),
    );
  }

  /** Names reach us in lower case. */
  #tellsSecret(name: string, forms: readonly Buffer[]): boolean {
    const isTold = forms.some((form) => form.length <= name.length && name.includes(form.toString().toLowerCase()));
    this.#foundInHead ||= isTold;
    return isTold;
  }

  async *#countBytes(body: Readable, search: SecretSearch): AsyncGenerator<Buffer> {
    try {
      for await (const piece of withoutSecrets(body, search)) {
        this.#bytesIn += piece.length;
        yield piece;
      }
    } catch (error) {
      await this.end(this.#ctx.signal.aborted ? 'CLIENT_LEFT' : 'VENDOR_TIMEOUT');
      throw noAnswer(error instanceof Error ? error.message : 'The answer broke off.');
    }
  }

  /** It has reached its target, and is charged, once. `code`: null: it was answered. `answer`: what its idempotency key answers from now on. */
  async end(code: string | null, answer = LOST_ANSWER): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await endCall(this.#ctx.core, this.#begun.hold, { ...this.#rowOf(code), isCharged: true, answer });
    if (code !== null) this.#ctx.chargedThoughFailed(this.costNanos, false);
  }

  /** The same a moment later: the answer is out, and nobody waits for its row in the log. */
  endSoon(code: string | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#endings.add(this.#begun.hold, { ...this.#rowOf(code), isCharged: true, answer: LOST_ANSWER });
  }

  async #giveBack(code: string): Promise<void> {
    this.#hasEnded = true;
    await endCall(this.#ctx.core, this.#begun.hold, { ...this.#rowOf(code), isCharged: false });
  }

  #rowOf(code: string | null) {
    return { status: this.#status, bytesIn: this.#bytesIn, bytesOut: this.#bytesOut, latencyMs: this.latencyMs, code };
  }
}

/** Of one connection, or untrue once the answer was searched. */
const HOP_BY_HOP = new Set(
  'connection keep-alive proxy-authenticate proxy-connection te trailer transfer-encoding upgrade content-encoding content-length'.split(
    ' ',
  ),
);

/** Of a call that is repeated under its key. */
export function outcomeUnknown(): Problem {
  return noAnswer('The call was made before under this key.');
}

function noAnswer(why: string): Problem {
  return problem('VENDOR_TIMEOUT', {
    retryable: false,
    message: `The request was sent, and the target did not answer it to the end: ${why} It may have had its effect; nothing was repeated.`,
  });
}
