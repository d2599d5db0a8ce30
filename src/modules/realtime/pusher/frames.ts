// Frames of the Pusher Channels protocol 7. A frame for many clients is encoded once, as the bytes of its text.
import { nestingDepth } from '../../../lib/json-source.ts';
import { shownUserId } from '../presence/member.ts';
import type { Message } from '../publish/message.ts';

/** What a client sent. */
export interface ClientFrame {
  readonly event: string;
  readonly channel: string | null;
  /** Any JSON value. */
  readonly data: unknown;
}

const NESTING_MAX = 64;

/** Null: it is no frame. Its size is bounded by whoever read it. */
export function readFrame(text: string): ClientFrame | null {
  if (nestingDepth(text) > NESTING_MAX) return null;
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(frame) || typeof frame.event !== 'string') return null;
  const { event, channel = null, data = null } = frame;
  if (channel !== null && typeof channel !== 'string') return null;
  return { event, channel, data };
}

/** Of `pusher:…` and `pusher_internal:…`, whose data are objects as JSON text. */
export function ownFrame(event: string, data: object, channel?: string): string {
  return JSON.stringify({ event, ...(channel === undefined ? {} : { channel }), data: JSON.stringify(data) });
}

/** Who is in a presence channel, for one who has joined. `members`: their user_info as JSON text, by user id. */
export function membersFrame(channel: string, members: ReadonlyMap<string, string>): Buffer {
  const hash = [...members].map(([id, info]) => `${JSON.stringify(id)}:${info}`);
  const ids = [...members].map(([id, info]) => shownUserId(id, info));
  const data = `{"presence":{"count":${members.size},"ids":[${ids.join()}],"hash":{${hash.join()}}}}`;
  return Buffer.from(JSON.stringify({ event: 'pusher_internal:subscription_succeeded', channel, data }));
}

/** `code`: null where the connection goes on as if nothing had been sent. `channel`: whose event was refused; clients tell who listens to it. */
export function errorFrame(code: number | null, message: string, channel?: string): string {
  return JSON.stringify({
    event: 'pusher:error',
    ...(channel === undefined ? {} : { channel }),
    data: { code, message },
  });
}

/** A message as subscribers get it. */
export function messageFrame({
  channel,
  event,
  data,
  userId,
}: Pick<Message, 'channel' | 'event' | 'data' | 'userId'>): Buffer {
  return Buffer.from(
    JSON.stringify({ event, channel, data: textOf(data), ...(userId === null ? {} : { user_id: userId }) }),
  );
}

/**
 * Data are a JSON text. A string among them that is no JSON itself goes without its quotes: so it was published by a server library, and so
 * clients that read no JSON get it.
 */
function textOf(data: string): string {
  if (!data.startsWith('"')) return data;
  const text = JSON.parse(data) as string;
  return isJson(text) ? data : text;
}

/** What a server library publishes, which is any text, as the JSON text that is stored. */
export function jsonOf(text: string): string {
  return isJson(text) ? text : JSON.stringify(text);
}

function isJson(text: string): boolean {
  if (nestingDepth(text) > NESTING_MAX) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The data of a client's own frame, which are an object, or one as JSON text. */
export function objectOf(data: unknown): Readonly<Record<string, unknown>> {
  if (typeof data !== 'string') return isObject(data) ? data : {};
  if (nestingDepth(data) > NESTING_MAX) return {};
  try {
    const parsed: unknown = JSON.parse(data);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
