// Parser for the bodies of /events and /batch_events from server libraries. Long bodies are read in a thread.
import type { BodyTask } from '../../../../kit/raw-route.ts';
import { nestingDepth } from '../../../../lib/json-source.ts';
import { invalidField, problem } from '../../../../problems/problem.ts';
import { isChannelName } from '../../channels.ts';
import { BATCH_MAX, CHANNELS_MAX, EVENT_CHARACTERS_MAX } from '../../limits.ts';
import type { NewEvent } from '../../publish/message.ts';
import { socketChannel } from '../channels.ts';
import { jsonOf } from '../frames.ts';

export interface SentEvent extends NewEvent {
  /** Attributes of the channels that the answer is to tell. */
  readonly info: readonly string[];
}

const NESTING_MAX = 64;
const SOCKET_ID = /^\d{1,20}\.\d{1,20}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const EVENT = /^[^\u0000-\u001f\u007f]+$/;
/** What may be asked of a channel. */
const ATTRIBUTES = ['user_count', 'subscription_count', 'cache'];

export const readEvent: BodyTask<SentEvent[]> = {
  source: import.meta.url,
  id: 'readEvent',
  run: (body) => [eventOf(objectIn(body), '')],
};

export const readBatch: BodyTask<SentEvent[]> = {
  source: import.meta.url,
  id: 'readBatch',
  run(body) {
    const { batch } = objectIn(body);
    if (!Array.isArray(batch) || batch.length === 0 || batch.length > BATCH_MAX)
      throw invalidField('batch', 'maxItems', `batch must hold 1 to ${BATCH_MAX} events.`);
    return batch.map((event: unknown, i) => eventOf(isObject(event) ? event : {}, `batch[${i}].`));
  },
};

function objectIn(body: Buffer): Record<string, unknown> {
  const text = body.toString();
  if (nestingDepth(text) > NESTING_MAX)
    throw problem('MALFORMED_JSON', { message: `JSON has at most ${NESTING_MAX} levels.` });
  try {
    const sent: unknown = JSON.parse(text);
    if (isObject(sent)) return sent;
  } catch {
    // It is told below.
  }
  throw problem('MALFORMED_JSON', { message: 'The body must be an object of JSON.' });
}

function eventOf(sent: Record<string, unknown>, at: string): SentEvent {
  const { name, data, socket_id: socketId = null } = sent;
  if (typeof name !== 'string' || name.length > EVENT_CHARACTERS_MAX || !EVENT.test(name) || !name.isWellFormed())
    throw invalidField(
      `${at}name`,
      'pattern',
      `name must be the name of an event, up to ${EVENT_CHARACTERS_MAX} characters.`,
    );
  if (/^pusher(_internal)?:/.test(name))
    throw invalidField(`${at}name`, 'pattern', 'Events named pusher:… and pusher_internal:… are those of the service.');
  if (typeof data !== 'string') throw invalidField(`${at}data`, 'type', 'data must be a text, such as JSON.');
  if (socketId !== null && !(typeof socketId === 'string' && SOCKET_ID.test(socketId)))
    throw invalidField(`${at}socket_id`, 'pattern', 'socket_id must be the id of a connection.');
  const channels = channelsOf(sent, at);
  return { channels, event: name, data: jsonOf(data), socketId, userId: null, info: attributesOf(sent.info) };
}

function channelsOf({ channel, channels }: Record<string, unknown>, at: string): string[] {
  const named = Array.isArray(channels) ? channels : [channel];
  if (named.length === 0 || named.length > CHANNELS_MAX)
    throw invalidField(`${at}channels`, 'maxItems', `An event goes to 1 to ${CHANNELS_MAX} channels.`);
  const wrong = named.findIndex((name) => typeof name !== 'string' || !(isChannelName(name) || socketChannel(name)));
  if (wrong !== -1) throw invalidField(`${at}channels[${wrong}]`, 'pattern', 'No channel has this name.');
  return [...new Set(named as string[])];
}

export function attributesOf(info: unknown): string[] {
  if (typeof info !== 'string') return [];
  return [...new Set(info.slice(0, 200).split(','))].filter((name) => ATTRIBUTES.includes(name));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
