// Hand-over of a chat from the thread that has read a long body to the event loop, where its objects are rebuilt in time slices.
import { admission } from '../../../core/admission.ts';
import { inputTokensAside, inputTokensOf, type WireObject } from '../../../lib/chat/body.ts';
import { type PackedJson, packJson, unpackJson } from '../../../lib/long-json.ts';
import type { ChatAsk, SentChat } from './ask.ts';

/** A chat that was read where its objects are. */
type ReadHere = SentChat & { readonly body: WireObject };

/** The same, of a body that has so many characters: a long one is read in a thread, so it is counted here, and packed. */
export function packLong(ask: ReadHere, characters: number): SentChat {
  if (characters <= admission.call.readHereBytesMax) return ask;
  const { body, own } = ask;
  const packed = packJson([body, own?.body ?? null]);
  return { ...ask, body: packed, own: own && { ...own, body: {} }, inputTokens: inputTokensOf(body) };
}

export async function openChat({ tokensBeside = 0, ...sent }: SentChat): Promise<ChatAsk> {
  const [body, ownBody] = isPacked(sent.body)
    ? ((await unpackJson(sent.body)) as [WireObject, WireObject | null])
    : [sent.body, sent.own?.body ?? null];
  const own = sent.own === null || ownBody === null ? null : { ...sent.own, body: ownBody };
  const inputTokens = (sent.inputTokens ?? (await inputTokensAside(body))) + tokensBeside;
  return { ...sent, body, own, inputTokens };
}

export async function unpackHanded(handed: WireObject | PackedJson): Promise<WireObject> {
  return isPacked(handed) ? ((await unpackJson(handed)) as WireObject) : handed;
}

function isPacked(handed: WireObject | PackedJson): handed is PackedJson {
  return Array.isArray(handed);
}
