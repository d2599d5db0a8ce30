// Reads chat messages: the texts for the model, and pictures.
import { tokensIn } from './token-counter.ts';
import { countTokens } from './tokens.ts';

/** A JSON object of the wire; fields that nobody here knows are in it too. */
export type WireObject = Readonly<Record<string, unknown>>;

/** What a message counts for beside its text. */
const TOKENS_PER_MESSAGE = 4;

/** Of what nobody here can read, a file or a sound, a token is taken to be so long. */
const CHARACTERS_PER_TOKEN = 4;
/** Fields that no model reads, and messages, which are counted one by one. */
const UNREAD_FIELDS = new Set([
  'messages',
  'model',
  'user',
  'metadata',
  'stream_options',
  'stop',
  'tool_choice',
  'logit_bias',
]);
/** Of a message, with what `textsOf` reads. */
const KNOWN_FIELDS = new Set(['role', 'content', 'name', 'refusal', 'tool_calls', 'tool_call_id']);

/** Counted in this thread, pictures left out. What is not known here is counted by its length: it goes to the vendor, and may be billed. */
export function inputTokensOf(body: WireObject): number {
  const { text, beside } = countedOf(body);
  return countTokens(text) + beside;
}

/** The same, counted beside the event loop. */
export async function inputTokensAside(body: WireObject): Promise<number> {
  const { text, beside } = countedOf(body);
  return (await tokensIn(text)) + beside;
}

/** What of a body is to be counted, and what counts beside it. */
function countedOf(body: WireObject): { readonly text: string; readonly beside: number } {
  const list = objectsOf(body.messages);
  const texts = [...list.flatMap(textsOf), ...list.flatMap(furtherTexts), ...fieldTexts(body)];
  const unread = list.flatMap(({ content }) => objectsOf(content).filter(isUnread));
  const unreadCharacters = unread.reduce((sum, part) => sum + JSON.stringify(part).length, 0);
  const beside = Math.ceil(unreadCharacters / CHARACTERS_PER_TOKEN) + TOKENS_PER_MESSAGE * list.length;
  return { text: texts.join('\n'), beside };
}

/** Tools, schemas, predictions: whatever beside the messages is more than a number or a word. */
function fieldTexts(body: WireObject): string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (UNREAD_FIELDS.has(name) || typeof value !== 'object' || value === null) return [];
    const text = JSON.stringify(value);
    return text === '[]' || text === '{}' ? [] : [text];
  });
}

/** Thoughts, and what else a message may carry. */
function furtherTexts(message: WireObject): string[] {
  return Object.entries(message).flatMap(([name, value]) =>
    KNOWN_FIELDS.has(name) || value == null ? [] : [typeof value === 'string' ? value : JSON.stringify(value)],
  );
}

function isUnread(part: WireObject): boolean {
  return !isImage(part) && typeof (part.text ?? part.refusal) !== 'string';
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
