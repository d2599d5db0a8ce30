// The answer of a target as vault.call answers it: inline up to 1 MiB, else by a link, or as an object.
import { answerResult, type ResultWish } from '../../../files/result.ts';
import type { CallContext } from '../../../kit/services.ts';
import { ANSWER_BYTES_MAX, INLINE_BYTES_MAX } from '../limits.ts';
import type { RelayedCall, TargetAnswer } from './relay.ts';

export interface Collected {
  readonly bytes: Buffer;
  /** There was more. */
  readonly isCut: boolean;
}

/** All of it up to the bound: it counts among the answers that the account holds. */
export async function collect(ctx: CallContext, { body }: TargetAnswer): Promise<Collected> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    const kept = piece.subarray(0, ANSWER_BYTES_MAX - bytes);
    ctx.holdMade(kept.length);
    pieces.push(kept);
    bytes += kept.length;
    if (kept.length < piece.length) return { bytes: Buffer.concat(pieces), isCut: true };
  }
  return { bytes: Buffer.concat(pieces), isCut: false };
}

/** What vault.call answers. */
export async function answerOf(
  ctx: CallContext,
  call: RelayedCall,
  { status, headers }: TargetAnswer,
  { bytes, isCut }: Collected,
  wish: ResultWish,
) {
  const contentType = String(headers['content-type'] ?? '');
  const isInline = wish.store === undefined && wish.inline !== false && bytes.length <= INLINE_BYTES_MAX;
  const text = isInline ? textOf(bytes) : null;
  const file = isInline
    ? null
    : await answerResult(ctx, bytes, {
        contentType: contentType || 'application/octet-stream',
        filename: 'answer',
        ...wish,
      });
  return {
    call_id: call.callId,
    status,
    headers,
    body: text,
    body_base64: isInline && text === null ? bytes.toString('base64') : null,
    url: file?.url ?? null,
    expires_at: file?.expires_at ?? null,
    bucket: file?.bucket ?? null,
    key: file?.key ?? null,
    bytes: bytes.length,
    is_cut: isCut,
    latency_ms: call.latencyMs,
  };
}

/** Null: it is none that JSON can hold. */
function textOf(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
