// What stands in the messages of a chat: the texts that a model reads, and pictures.
import { countTokens } from './tokens.ts';

/** A JSON object of the wire; fields that nobody here knows are in it too. */
export type WireObject = Readonly<Record<string, unknown>>;

/** What a message counts for beside its text. */
const TOKENS_PER_MESSAGE = 4;

/** Counted, pictures left out. */
export function inputTokensOf({ messages, tools }: WireObject): number {
  const list = objectsOf(messages);
  const texts = list.flatMap(textsOf);
  const listed = Array.isArray(tools) && tools.length > 0 ? [JSON.stringify(tools)] : [];
  return countTokens([...texts, ...listed].join('\n')) + TOKENS_PER_MESSAGE * list.length;
}

export function imagesIn({ messages }: WireObject): number {
  return objectsOf(messages).flatMap(({ content }) => (Array.isArray(content) ? content.filter(isImage) : [])).length;
}

/** All that a vendor reads of a message as text. */
export function textsOf({ content, name, refusal, tool_calls: calls }: WireObject): string[] {
  const parts: unknown[] = Array.isArray(content) ? content.filter((part) => !isImage(part)) : [content];
  const texts = parts.map((part) => (isObject(part) ? (part.text ?? part.refusal) : part));
  const others = [...texts, name, refusal].filter((text) => typeof text === 'string');
  return calls === undefined || calls === null ? others : [...others, JSON.stringify(calls)];
}

function isImage(part: unknown): boolean {
  return isObject(part) && (part.type === 'image_url' || part.type === 'input_image');
}

export function objectsOf(value: unknown): readonly WireObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function isObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
