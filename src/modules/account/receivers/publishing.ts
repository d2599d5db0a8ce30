// What a request is published with: a message of the receiver's queue, or an event of its channel.
import type { InvokedInput } from '../../../core/callers/context.ts';
import type { CallContext } from '../../../kit/services.ts';
import { type JsonText, toJson } from '../../../lib/json-text.ts';
import type { ReceiverRow } from './store.ts';

const EVENT_CHARACTERS_MAX = 200;
const EVENT = 'webhook';

export interface Target {
  readonly capability: 'queue.publish' | 'realtime.publish';
  readonly target: string;
}

export function inputOf({ capability, target }: Target, event: string | null, message: JsonText): InvokedInput {
  if (capability === 'queue.publish') return { queue: target, payload: message };
  return { channel: target, event: channelEvent(event), data: message };
}

/** Names that begin with `pusher` are the service's own. */
function channelEvent(event: string | null): string {
  return event === null || event.startsWith('pusher') ? EVENT : event.slice(0, EVENT_CHARACTERS_MAX);
}

/** Publishes for the caller of a call, under its rights. Answers the id of the message. Throws what publishing throws. */
export async function publishFor(
  ctx: Pick<CallContext, 'invoke'>,
  { target_kind: kind, target }: Pick<ReceiverRow, 'target_kind' | 'target'>,
  event: string | null,
  message: JsonText,
): Promise<string> {
  const capability = kind === 'queue' ? 'queue.publish' : 'realtime.publish';
  const { data } = await ctx.invoke(capability, inputOf({ capability, target }, event, message));
  return messageIdIn(data) as string;
}

/** Of the data that publishing answers. */
export function messageIdIn(data: unknown): string | null {
  const { message_id: id, items } = JSON.parse(toJson(data));
  return id ?? items?.[0]?.message_id ?? null;
}
