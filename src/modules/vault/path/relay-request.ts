// A request that is passed on and answered as it comes, by path or as a message of MCP.
import type { IncomingHttpHeaders } from 'node:http';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../../../problems/problem.ts';
import { readHeaders, type SentBody } from '../calls/outgoing.ts';
import { openCall, type RelayedCall, type RelayLimits, type TargetAnswer } from '../calls/relay.ts';
import type { Found } from '../calls/url.ts';
import { STREAM_IDLE_MS, STREAM_TOTAL_MS } from '../limits.ts';
import type { RequestTarget } from '../rule/target.ts';
import type { VaultState } from '../state.ts';

export interface PassedOn {
  readonly found: Found;
  readonly method: string;
  readonly target: RequestTarget;
  readonly headers: IncomingHttpHeaders;
  /** A message of MCP, whose tool was compared with the rule. */
  readonly isMessage?: boolean;
  body(): SentBody;
}

export type Rewrite = (answer: TargetAnswer) => AsyncIterable<Buffer>;

/** With all headers of the target. `rewrite`: of a body that is not passed on as it comes. Throws what openCall and send throw. */
export async function relayRequest(
  ctx: CallContext,
  state: VaultState,
  request: PassedOn,
  rewrite?: Rewrite,
): Promise<RawAnswer> {
  const { found, method, target, headers: sent, isMessage = false, body } = request;
  const headers = readHeaders(Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, String(value)])));
  if ('wrong' in headers) throw problem('INVALID_REQUEST', { message: 'A header cannot be sent on.' });
  const limits = limitsFor(sent['accept-encoding']);
  const opened = await openCall(ctx, state, { found, sent: { method, target, headers, isMessage, body }, limits });
  if (opened.kind === 'replayed')
    throw problem('IDEMPOTENCY_IN_FLIGHT', { message: 'The approved request is under way, or was sent already.' });
  const { call } = opened;
  const came = await call.send();
  const isEmpty = method === 'HEAD' || came.status === 204 || came.status === 304;
  return {
    status: came.status,
    headers: came.headers,
    body: isEmpty ? await emptyBody(call, came) : flowing(call, rewrite === undefined ? came.body : rewrite(came)),
    costNanos: call.costNanos,
  };
}

function limitsFor(encodings: string | string[] | undefined): RelayLimits {
  const wanted = ['gzip', 'br'].filter((each) => String(encodings ?? '').includes(each));
  return {
    firstByteMs: STREAM_IDLE_MS,
    idleMs: STREAM_IDLE_MS,
    totalMs: STREAM_TOTAL_MS,
    encodings: wanted.length === 0 ? 'identity' : wanted.join(', '),
  };
}

async function emptyBody(call: RelayedCall, { body }: TargetAnswer): Promise<string> {
  for await (const _ of body) break;
  call.endSoon(null);
  return '';
}

/** However it ends, the log has it. */
async function* flowing(call: RelayedCall, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isWhole = false;
  try {
    yield* body;
    isWhole = true;
  } finally {
    call.endSoon(isWhole ? null : 'CLIENT_LEFT');
  }
}
