// Client events: members publish to one another without an app server in between. Charged as any message.
import type { RawSocket } from '../../../kit/socket-route.ts';
import { EVENT_CHARACTERS_MAX, PUBLISH } from '../limits.ts';
import { publishEvents } from '../publish/publish.ts';
import { channelOf, socketChannel } from './channels.ts';
import { codes } from './close-codes.ts';
import { type ClientFrame, jsonOf } from './frames.ts';
import type { Session } from './wire.ts';

/** Of one connection, with as many at once. */
export const CLIENT_EVENTS_PER_SECOND = 10;

export class ClientEvents {
  readonly #connection: Session;
  readonly #socket: RawSocket;
  #left = CLIENT_EVENTS_PER_SECOND;
  #filledMs = performance.now();

  constructor(connection: Session, socket: RawSocket) {
    this.#connection = connection;
    this.#socket = socket;
  }

  /** Publishes it, or tells why not. The connection goes on. Throws the Problem of a refusal. */
  async take(frame: ClientFrame): Promise<void> {
    const connection = this.#connection;
    const { event, channel } = frame;
    const subscription = channel === null ? undefined : connection.subscriptions.get(channel);
    const reject = (message: string) => connection.error(codes.rejected, message, channelOf(frame));
    if (channel === null || subscription === undefined || subscription.pending !== null)
      return reject('A client event needs a channel that the connection has subscribed to.');
    const kind = socketChannel(channel);
    if (kind?.isPrivate !== true || kind.isEncrypted)
      return reject('Client events go to private and presence channels that are not encrypted.');
    if (event.length > EVENT_CHARACTERS_MAX) return reject(`An event has at most ${EVENT_CHARACTERS_MAX} characters.`);
    if (!this.#mayNow())
      return reject(`A connection sends at most ${CLIENT_EVENTS_PER_SECOND} client events a second.`);
    const { state, feed } = connection.wire;
    if (!(await state.clientEvents.areOn(feed.accountId))) return reject('Client events are off for this app.');
    const data = typeof frame.data === 'string' ? jsonOf(frame.data) : JSON.stringify(frame.data);
    const userId = subscription.member?.userId ?? null;
    const message = { channels: [channel], event, data, socketId: connection.socketId, userId };
    await this.#socket.perform(PUBLISH, { channel, event, data: frame.data }, (ctx) =>
      publishEvents(ctx, state, [message], () => 'data'),
    );
  }

  #mayNow(): boolean {
    const nowMs = performance.now();
    const filled = this.#left + ((nowMs - this.#filledMs) / 1_000) * CLIENT_EVENTS_PER_SECOND;
    this.#filledMs = nowMs;
    this.#left = Math.min(CLIENT_EVENTS_PER_SECOND, filled);
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
