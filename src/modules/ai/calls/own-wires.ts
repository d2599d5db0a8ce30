// Wires beside that of chats on which a request may come: vendors that speak one get it as it came, and their answers and events come back
// unchanged. For all others it is said as a chat.
import type { Services } from '../../../kit/services.ts';
import { isObject, type WireObject } from '../../../lib/chat/body.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { eventsOf as eventsOfMessage, isMessage } from '../messages/own-wire.ts';
import type { AiModel } from '../models/family.ts';
import { eventsOf as eventsOfResponse, isResponse } from '../responses/own-wire.ts';
import type { AiAdapter, OwnWire } from '../vendors/port.ts';
import type { ChatAsk } from './ask.ts';

/** How the vendor of a row is asked on the wire; null: it does not speak it. */
export function ownWireOf(
  { vendors }: Pick<Services, 'vendors'>,
  { vendor, options }: ModelRow,
  wire: OwnWire,
): NonNullable<AiAdapter['own']> | null {
  const { own } = vendors.adapter<AiAdapter>('ai', vendor.adapter);
  return own?.wire === wire && own.speaks(options) ? own : null;
}

/** The body of a chat that says the same. The effort in a translation is a wish: models that do not reason are not told of it. */
export function saidAsChat({ body, own }: ChatAsk, { reasoning }: AiModel): WireObject {
  if (own?.wire !== 'messages' || reasoning) return body;
  const { reasoning_effort: _, ...rest } = body;
  return rest;
}

export function isOwnAnswer(completion: WireObject): boolean {
  return isResponse(completion) || isMessage(completion);
}

/** Of a stream of messages. */
export function isMessageEvent({ type }: WireObject): boolean {
  return typeof type === 'string' && !type.startsWith('response.');
}

/** The events of a stream that would end with the answer, without its end. */
export function eventsOfAnswer(completion: WireObject): WireObject[] {
  return isMessage(completion) ? eventsOfMessage(completion) : eventsOfResponse(completion);
}

/** The chunk, or event, with the model that answered. */
export function withModel(chunk: WireObject, model: string): WireObject {
  if (chunk.choices !== undefined) return { ...chunk, model };
  if (isObject(chunk.response)) return { ...chunk, response: { ...chunk.response, model } };
  return isObject(chunk.message) ? { ...chunk, message: { ...chunk.message, model } } : chunk;
}

/** Of an event, what it adds to the text of the answer. */
export function textIn({ type, delta }: WireObject): string {
  if (typeof delta === 'string') return type === 'response.output_text.delta' ? delta : '';
  return isObject(delta) && delta.type === 'text_delta' ? String(delta.text ?? '') : '';
}
