// Requests of a batch, packed to cross from the thread that has read them. Each is validated like a call of its own.

import { admission } from '../../../core/admission.ts';
import { inputTokensOf } from '../../../lib/chat/body.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import { readChat, type Sent } from '../calls/ask.ts';
import { readEmbed } from '../calls/embed.ts';
import { BATCH_INPUTS_MAX, BATCH_REQUEST_BYTES_MAX } from '../limits.ts';
import { CHAT, EMBED } from '../models/family.ts';

export const batchable = [CHAT, EMBED] as const;
export type Batchable = (typeof batchable)[number];

export interface SentRequest {
  readonly custom_id: string;
  readonly capability: Batchable;
  readonly body: Sent;
}

export interface PackedRequests {
  readonly customIds: readonly string[];
  readonly capabilities: readonly Batchable[];
  /** What is asked, as JSON one after the other. */
  readonly asks: Uint8Array<ArrayBuffer>;
  /** Where each ends. */
  readonly ends: readonly number[];
}

/** Of the call that makes the batch, not of what is in it. */
const NOT_HERE = ['idempotency_key', 'cache_ttl_seconds'];

/** Throws VALIDATION_FAILED that names the request. */
export function packRequests(requests: readonly SentRequest[]): PackedRequests {
  const seen = new Map<string, number>();
  const texts = requests.map(({ custom_id, capability, body }, i) => {
    const first = seen.get(custom_id);
    if (first !== undefined)
      throw invalidField(`items[${i}].custom_id`, 'unique', `items[${first}] has the same custom_id.`);
    seen.set(custom_id, i);
    return askText(capability, body, `items[${i}].body`);
  });
  const pieces = texts.map((text) => Buffer.from(text));
  let end = 0;
  const ends = pieces.map(({ length }) => {
    end += length;
    return end;
  });
  const asks = new Uint8Array(end);
  pieces.forEach((piece, i) => {
    asks.set(piece, (ends[i] as number) - piece.length);
  });
  return {
    customIds: requests.map((request) => request.custom_id),
    capabilities: requests.map(({ capability }) => capability),
    asks,
    ends,
  };
}

/** The ask as it is kept until its turn. */
function askText(capability: Batchable, body: Sent, at: string): string {
  const unfit = NOT_HERE.find((name) => Object.hasOwn(body, name));
  if (unfit !== undefined)
    throw invalidField(
      `${at}.${unfit}`,
      'not_here',
      'A request of a batch is made once, and its answer kept for itself.',
    );
  const text = JSON.stringify(readAsk(capability, body, at));
  if (Buffer.byteLength(text) <= BATCH_REQUEST_BYTES_MAX) return text;
  throw invalidField(at, 'max_bytes', `A request of a batch has at most ${BATCH_REQUEST_BYTES_MAX} bytes.`);
}

function readAsk(capability: Batchable, body: Sent, at: string): object {
  try {
    const text = JSON.stringify(body);
    if (capability === EMBED) return requireFewInputs(readEmbed(body, text));
    const ask = readChat(body, text);
    // What is long is read in a thread; what is not is counted at its turn.
    const inputTokens = text.length > admission.call.readHereBytesMax ? inputTokensOf(ask.body) : null;
    if (!ask.stream) return { ...ask, inputTokens };
  } catch (error) {
    if (!(error instanceof Problem) || error.param === undefined) throw error;
    throw invalidField(`${at}.${error.param}`, error.detail ?? 'invalid', error.message);
  }
  throw invalidField(`${at}.stream`, 'not_here', 'Batches do not stream.');
}

function requireFewInputs<Ask extends { readonly inputs: readonly unknown[] }>(ask: Ask): Ask {
  if (ask.inputs.length <= BATCH_INPUTS_MAX) return ask;
  throw invalidField('input', 'max_items', `A request of a batch has at most ${BATCH_INPUTS_MAX} inputs.`);
}
