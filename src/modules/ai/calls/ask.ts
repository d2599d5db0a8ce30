// Reads a chat request from a chat/completions body. Only the fields that route, price or gate the call are examined; the rest goes to the
// vendor unchanged.

import { fingerprintPrefix, KEY_FIELD, requestFingerprint } from '../../../core/idempotency/fingerprint.ts';
import { imagesIn, isObject, type WireObject } from '../../../lib/chat/body.ts';
import type { PackedJson } from '../../../lib/long-json.ts';
import { invalidField } from '../../../problems/problem.ts';
import { CACHE_TTL_SECONDS_MAX, CHOICES_MAX } from '../limits.ts';
import type { AiLack, OwnWire } from '../vendors/port.ts';
import { requireFewParts, requireSize } from './body-size.ts';

/** Who is asked, of every call of a model. */
export interface Routed {
  readonly model: string | null;
  readonly vendor: string | null;
  readonly crossRegion: boolean;
}

/** What the wire that a request came by calls fields that are refused or spoken of later. */
export interface FieldNames {
  readonly messages: string;
  readonly limit: string;
  readonly format: string;
}
/** The limit has two names: mistakes are told by the one that was sent. */
function chatNames({ max_completion_tokens: limit }: Sent): FieldNames {
  return {
    messages: 'messages',
    limit: limit == null ? 'max_tokens' : 'max_completion_tokens',
    format: 'response_format',
  };
}

/** A request as it came on a wire of its own. */
export interface OwnAsk {
  readonly wire: OwnWire;
  /** Without the fields that are ours. */
  readonly body: WireObject;
  /** Those that belong to the wire, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As `ChatAsk.digest`, of the body as it came. */
  readonly digest: string;
}

export interface ChatAsk extends Routed {
  /** For the vendor: without the fields that are ours. */
  readonly body: WireObject;
  /** The same as it came on another wire, for vendors that speak that; null: it came on the wire of chats. */
  readonly own: OwnAsk | null;
  /** The first that a chat cannot say of it: only vendors that speak its own wire may be asked. Null: all is said. */
  readonly lack: AiLack | null;
  /** Whether vendors of its own wire read more for it than was sent, as long as their context. */
  readonly unseen: boolean;
  readonly choices: number;
  /** Set by the caller; null: not at all. */
  readonly outputTokens: number | null;
  readonly stream: boolean;
  /** Whether a stream shows its usage in a chunk of its own. */
  readonly showsUsage: boolean;
  /** Counted. */
  readonly inputTokens: number;
  readonly images: number;
  readonly tools: boolean;
  readonly jsonSchema: boolean;
  readonly names: FieldNames;
  readonly cacheTtlSeconds: number | null;
  /** The realtime channel that the answer is published to; null: none is named in the body. */
  readonly streamTo: string | null;
  /** Of all of the request but the form of its answer, its idempotency key and how long it is cached. */
  readonly digest: string;
}

/** A chat as its body says it. What takes long on the event loop was done in the thread that read a long body, or is done by `openChat`. */
export interface SentChat extends Omit<ChatAsk, 'body' | 'inputTokens'> {
  /** A long one is packed, with that of `own`: so it comes from a thread in a fraction of the time that its objects take. */
  readonly body: WireObject | PackedJson;
  /** Null: not counted yet. */
  readonly inputTokens: number | null;
  /** Of what is no part of the chat, but goes to vendors that speak the request's own wire. */
  readonly tokensBeside: number;
}

/** Fields of ours: vendors never see them. */
const OWN = ['vendor', 'cross_region', 'idempotency_key', 'cache_ttl_seconds', 'stream', 'stream_options', 'stream_to'];

/** In place of `cache_ttl_seconds`. */
export const TTL_HEADER = 'X-QM-Cache-TTL';

export type Sent = Readonly<Record<string, unknown>>;

/** In which form an answer comes, and how long it is kept, makes no other request of it. */
const NOT_DIGESTED: ReadonlySet<string> = new Set([
  KEY_FIELD,
  'stream',
  'stream_options',
  'encoding_format',
  'cache_ttl_seconds',
  'stream_to',
]);
const PREFIX = fingerprintPrefix({});

export function digestOf(text: string): string {
  return requestFingerprint(PREFIX, text, NOT_DIGESTED);
}

/** `text`: of the whole body. Throws VALIDATION_FAILED. */
export function readChat(sent: Sent, text: string, names = chatNames(sent)): SentChat & { readonly body: WireObject } {
  requireMessages(sent.messages);
  requireFewParts(sent.messages as readonly WireObject[], names.messages);
  requireSize(sent);
  const tools = listOf(sent, 'tools');
  const options = objectOf(sent, 'stream_options');
  const format = objectOf(sent, 'response_format');
  return {
    ...readRouting(sent),
    body: withoutOwn(sent),
    own: null,
    lack: null,
    unseen: false,
    choices: wholeOf(sent, 'n', 1, CHOICES_MAX) ?? 1,
    outputTokens: wholeOf(sent, 'max_completion_tokens', 1) ?? wholeOf(sent, 'max_tokens', 1),
    stream: flagOf(sent, 'stream'),
    showsUsage: flagOf(options, 'include_usage'),
    inputTokens: null,
    tokensBeside: 0,
    images: imagesIn(sent),
    tools: tools.length > 0,
    names,
    jsonSchema: format.type === 'json_schema',
    cacheTtlSeconds: wholeOf(sent, 'cache_ttl_seconds', 1, CACHE_TTL_SECONDS_MAX),
    streamTo: textOf(sent, 'stream_to'),
    digest: digestOf(text),
  };
}

/** For vendors. */
export function withoutOwn(sent: Sent): WireObject {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !OWN.includes(name)));
}

/** Throws VALIDATION_FAILED. */
export function readRouting(sent: Sent): Routed {
  return { model: textOf(sent, 'model'), vendor: textOf(sent, 'vendor'), crossRegion: flagOf(sent, 'cross_region') };
}

function requireMessages(messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0)
    throw invalidField('messages', 'type', 'messages is a list of at least one message.');
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) throw invalidField(`messages[${i}]`, 'type', 'A message is an object.');
    if (typeof message.role !== 'string')
      throw invalidField(`messages[${i}].role`, 'type', 'The role of a message is a text, such as user.');
  }
}

function textOf(sent: Sent, name: string): string | null {
  const value = sent[name] ?? null;
  if (value === null || (typeof value === 'string' && value !== '' && value.length <= 300)) return value;
  throw invalidField(name, 'type', `${name} is a text of 1 to 300 characters.`);
}

function flagOf(sent: Sent, name: string): boolean {
  const value = sent[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw invalidField(name, 'type', `${name} is true or false.`);
}

function listOf(sent: Sent, name: string): readonly unknown[] {
  const value = sent[name] ?? [];
  if (Array.isArray(value)) return value;
  throw invalidField(name, 'type', `${name} is a list.`);
}

function objectOf(sent: Sent, name: string): Sent {
  const value = sent[name] ?? {};
  if (isObject(value)) return value;
  throw invalidField(name, 'type', `${name} is an object.`);
}

/** How long an answer is cached, as the header says it; null: it does not. Throws VALIDATION_FAILED. */
export function ttlIn(headers: Sent): number | null {
  const sent = headers[TTL_HEADER.toLowerCase()];
  if (sent === undefined) return null;
  const seconds = Number(sent);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= CACHE_TTL_SECONDS_MAX) return seconds;
  throw invalidField(TTL_HEADER, 'range', `${TTL_HEADER} is 1 to ${CACHE_TTL_SECONDS_MAX} seconds.`);
}

export function wholeOf(sent: Sent, name: string, min: number, max = Number.MAX_SAFE_INTEGER): number | null {
  const value = sent[name] ?? null;
  if (value === null) return null;
  if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  const upTo = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `${min} to ${max}`;
  throw invalidField(name, 'range', `${name} is a whole number, ${upTo}.`);
}
