// Asks one vendor for one chat, until the vendor has accepted the call: by a whole answer, or by the first content of a stream.
import type { Candidate } from '../../../../routing/choose.ts';
import { tooLate } from '../../../../routing/walk.ts';
import type { NotSent, Refused } from '../../../../vendors/call/port.ts';
import { DRAIN_MS, PREAMBLE_PIECES_MAX } from '../../limits.ts';
import { aiModel, timeoutsOf, wireModel } from '../../models/family.ts';
import type { AiState } from '../../state.ts';
import type { AiAdapter, ChatPiece, ChatReply } from '../../vendors/port.ts';
import type { ChatAsk } from '../ask.ts';
import type { ModelCall } from '../model-call.ts';
import { ownWireOf, saidAsChat } from '../own-wires.ts';
import type { Reserved } from '../reserve.ts';
import { Upstream } from '../upstream.ts';
import { Heard } from './heard.ts';

/** A stream that has begun: what was held back of it, and the rest. */
export interface Begun {
  readonly kind: 'stream';
  /** Of what was held back too. */
  readonly heard: Heard;
  readonly first: readonly ChatPiece[];
  readonly rest: AsyncIterator<ChatPiece>;
  readonly upstream: Upstream;
}
export type Completed = Extract<ChatReply, { kind: 'completed' }>;
/** Its client went after the vendor had taken it on, and before anything of it could be given out. */
export interface Left {
  readonly kind: 'left';
  readonly heard: Heard;
}
type Asked = Begun | Completed | Left | Refused | NotSent;

export async function askVendor(
  { pictures }: AiState,
  { core, signal, accountId }: ModelCall,
  ask: ChatAsk,
  candidate: Candidate,
  reserved: Reserved,
): Promise<Asked> {
  const { row } = candidate;
  const model = aiModel(row);
  const timeouts = timeoutsOf(model);
  const upstream = new Upstream(signal, model.billsAfterDisconnect ? DRAIN_MS : 0);
  upstream.limit(timeouts.totalMs);
  const hasContent = ask.stream ? upstream.limit(timeouts.firstContentMs) : null;
  const { baseUrl, key, assetHosts, adapter: name } = row.vendor;
  const adapter = core.vendors.adapter<AiAdapter>('ai', name);
  const held = pictures.of(accountId);
  const call = {
    baseUrl,
    assetHosts,
    outbound: core.outbound,
    signal: upstream.signal,
    key: key?.reveal() ?? null,
    holdPicture: held.take,
    markAccepted: () => {
      upstream.isAccepted = true;
    },
    countDroppedLine: () => core.vendors.lineDropped(row.vendor.id),
    // What is not streamed comes in one piece, at its end.
    timeouts: ask.stream ? timeouts : { ...timeouts, firstContentMs: timeouts.totalMs, idleMs: timeouts.totalMs },
  };
  const heard = new Heard();
  let reply: Asked | null = null;
  try {
    const request = {
      model: wireModel(model),
      outputTokensMax: reserved.outputTokensOf(model),
      stream: ask.stream,
      inputTokens: ask.inputTokens,
    };
    const own = ask.own === null ? null : ownWireOf(core, row, ask.own.wire);
    const replied = await (own === null || ask.own === null
      ? adapter.chat(call, { ...request, body: saidAsChat(ask, model) })
      : own.ask(call, { ...request, body: ask.own.body, headers: ask.own.headers }));
    if (replied.kind !== 'stream') reply = replied;
    else reply = await (ask.stream ? toContent(replied.pieces, heard, upstream) : toEnd(replied.pieces, heard));
    hasContent?.();
    if (reply.kind !== 'refused') return reply;
    if (upstream.isLate) return tooLate();
    return upstream.isLeft && upstream.isAccepted ? { kind: 'left', heard } : reply;
  } finally {
    held.release();
    if (reply?.kind !== 'stream') upstream.close();
  }
}

/** What comes before the first content commits nobody: a failure in it is a refusal. */
async function toContent(
  pieces: AsyncIterableIterator<ChatPiece>,
  heard: Heard,
  upstream: Upstream,
): Promise<Begun | Refused> {
  const first: ChatPiece[] = [];
  while (first.length < PREAMBLE_PIECES_MAX) {
    const piece = heard.note(pieceOf(await pieces.next()));
    if (piece.kind === 'failed') return piece.failure;
    first.push(piece);
    if (piece.kind === 'end' || (piece.kind === 'chunk' && piece.hasContent))
      return { kind: 'stream', heard, first, rest: pieces, upstream };
  }
  upstream.end();
  await pieces.return?.();
  return brokenAnswer('The vendor sends pieces without content.');
}

/** Of a vendor that streams unasked: nobody sees half of it, so what fails is a refusal, however far it had come. */
async function toEnd(pieces: AsyncIterableIterator<ChatPiece>, heard: Heard): Promise<Completed | Refused> {
  const { said } = heard;
  for (;;) {
    const piece = heard.note(pieceOf(await pieces.next()));
    const { usage } = heard;
    if (piece.kind === 'chunk' || piece.kind === 'usage') continue;
    if (piece.kind === 'failed') return piece.failure;
    if (piece.response !== undefined) return { kind: 'completed', completion: piece.response, usage };
    if (said.isWhole) return { kind: 'completed', completion: said.completion(), usage };
    return brokenAnswer('The answer is too long to be given in one piece.');
  }
}

export function pieceOf({ done, value }: IteratorResult<ChatPiece>): ChatPiece {
  return done === true ? { kind: 'failed', failure: brokenAnswer('The vendor broke off its answer.') } : value;
}

function brokenAnswer(message: string): Refused {
  return { kind: 'refused', reason: 'VENDOR_DOWN', breaker: { kind: 'counts' }, message, vendorSaid: null };
}
