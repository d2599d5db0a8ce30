// A chat on its way from the thread that has read a long body to the event loop. There objects are made of it, and tokens counted, by the turn.
import { setImmediate as turn } from 'node:timers/promises';
import { admission } from '../../../core/admission.ts';
import { inputTokensInTurns, inputTokensOf, type WireObject } from '../../../lib/chat/body.ts';
import type { ChatAsk, SentChat } from './ask.ts';

/** The same, of a body that has so many characters: a long one is read in a thread, so it is counted here, and handed over as text. */
export function handedOver(ask: SentChat & { readonly body: WireObject }, characters: number): SentChat {
  if (characters <= admission.call.readHereBytesMax) return ask;
  const { response } = ask;
  return {
    ...ask,
    body: JSON.stringify(ask.body),
    response: typeof response === 'object' && response !== null ? JSON.stringify(response) : response,
    inputTokens: inputTokensOf(ask.body),
  };
}

export async function openChat({ tokensBeside = 0, ...sent }: SentChat): Promise<ChatAsk> {
  const body = await opened(sent.body);
  const response = sent.response === null ? null : await opened(sent.response);
  const inputTokens = (sent.inputTokens ?? (await inputTokensInTurns(body))) + tokensBeside;
  return { ...sent, body, response, inputTokens };
}

/** Of a long text in a turn of its own. */
export async function opened(handed: WireObject | string): Promise<WireObject> {
  if (typeof handed !== 'string') return handed;
  await turn();
  return JSON.parse(handed) as WireObject;
}
