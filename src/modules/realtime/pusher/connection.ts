// One connection of the Pusher Channels protocol 7: its subscriptions, its signed-in user, and its incoming frames.
import { randomBytes } from 'node:crypto';
import type { RawSocket, SocketListener } from '../../../kit/socket-route.ts';
import { Problem } from '../../../problems/problem.ts';
import type { AccountFeed } from '../feed/feed.ts';
import { CHANNELS_MAX } from '../limits.ts';
import { channelOf, isUserChannel, isUserId } from './channels.ts';
import { ClientEvents } from './client-events.ts';
import { codes } from './close-codes.ts';
import { type ClientFrame, errorFrame, objectOf, ownFrame, readFrame } from './frames.ts';
import type { Subscription } from './hub.ts';
import { isSame, type SignedApp, userAuth } from './signatures.ts';
import { subscribe } from './subscribe.ts';
import { isProven, type Session, type Wire } from './wire.ts';

/** A client that has sent nothing for so long asks whether the connection lives. */
const ACTIVITY_TIMEOUT_SECONDS = 120;
/** What a frame takes beside its data, with the escapes of data as text. */
const FRAME_BYTES = 8 * 1024;

export class PusherConnection implements Session, SocketListener {
  readonly socketId = newSocketId();
  readonly subscriptions = new Map<string, Subscription>();
  readonly wire: Wire;
  userId: string | null = null;
  readonly #socket: RawSocket;
  readonly #clientEvents: ClientEvents;
  #isClosed = false;

  constructor(socket: RawSocket, wire: Wire) {
    this.#socket = socket;
    this.wire = wire;
    this.#clientEvents = new ClientEvents(this, socket);
    const established = { socket_id: this.socketId, activity_timeout: ACTIVITY_TIMEOUT_SECONDS };
    this.send(ownFrame('pusher:connection_established', established));
  }

  get feed(): AccountFeed {
    return this.wire.feed;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(frame: string | Buffer): void {
    this.#socket.send(frame, 'text');
  }

  error(code: number | null, message: string, channel?: string): void {
    this.send(errorFrame(code, message, channel));
  }

  terminate(): void {
    this.#socket.close(codes.unauthorized, 'The app has ended this connection.');
  }

  message(message: string | Buffer): void | Promise<void> {
    const frame = typeof message === 'string' ? this.#read(message) : null;
    if (frame === null) return this.error(null, 'A message must be an object of JSON with an event.');
    switch (frame.event) {
      case 'pusher:ping':
        return this.send(ownFrame('pusher:pong', {}));
      case 'pusher:pong':
        return undefined;
      case 'pusher:subscribe':
        return this.#ignoreIfClosed(this.#subscribe(frame));
      case 'pusher:unsubscribe':
        return this.#unsubscribe(frame);
      case 'pusher:signin':
        return this.#ignoreIfClosed(this.#signIn(frame));
      default:
        if (frame.event.startsWith('client-'))
          return this.#ignoreIfClosed(this.#clientEvents.take(frame), channelOf(frame));
        return this.error(null, 'The event is none that a client may send: those begin with client-.');
    }
  }

  onClose(): void {
    this.#isClosed = true;
    for (const channel of [...this.subscriptions.keys()]) this.leave(channel);
    if (this.userId !== null) this.wire.state.hub.removeUser(this.feed, this.userId, this);
    this.wire.leave();
  }

  leave(channel: string): void {
    const subscription = this.subscriptions.get(channel);
    if (subscription === undefined) return;
    this.subscriptions.delete(channel);
    const { hub, occupancy } = this.wire.state;
    const isLast = hub.remove(this.feed, channel, subscription);
    const userId = subscription.member?.userId;
    if (userId !== undefined && !this.#isUser(userId)) hub.removeUser(this.feed, userId, this);
    if (isUserChannel(channel)) hub.drop(this.feed.accountId, channel);
    else if (isLast) occupancy.noteLeave(this.feed.accountId, channel);
    else occupancy.countChanged(this.feed.accountId, channel);
  }

  #isUser(userId: string): boolean {
    if (this.userId === userId) return true;
    for (const { member } of this.subscriptions.values()) if (member?.userId === userId) return true;
    return false;
  }

  #read(message: string): ClientFrame | null {
    return message.length > 2 * this.wire.state.settings.messageBytesMax + FRAME_BYTES ? null : readFrame(message);
  }

  /** The connection may have ended meanwhile: then nothing is left to be done. */
  async #ignoreIfClosed(work: Promise<void>, channel?: string): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (this.#isClosed || this.#socket.signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      this.error(codes.rejected, error.message, channel);
    }
  }

  async #subscribe({ data }: ClientFrame): Promise<void> {
    const { channel, auth, channel_data: channelData } = objectOf(data);
    if (typeof channel !== 'string') return this.error(null, 'pusher:subscribe needs a channel.');
    if (this.subscriptions.has(channel)) return this.error(null, `There is a subscription to ${channel} already.`);
    if (this.subscriptions.size >= CHANNELS_MAX)
      return this.refuse(
        channel,
        'LimitReached',
        codes.overQuota,
        `A connection has at most ${CHANNELS_MAX} channels.`,
      );
    await subscribe(this, { channel, auth, channelData });
  }

  refuse(channel: string, type: string, status: number, error: string): void {
    this.send(JSON.stringify({ event: 'pusher:subscription_error', channel, data: { type, error, status } }));
    this.error(status, error);
  }

  #unsubscribe({ data }: ClientFrame): void {
    const { channel } = objectOf(data);
    if (typeof channel === 'string') this.leave(channel);
  }

  async #signIn({ data }: ClientFrame): Promise<void> {
    const { auth, user_data: userData } = objectOf(data);
    const isRight = (app: SignedApp) => isSame(userAuth(app, this.socketId, String(userData)), auth);
    if (typeof userData !== 'string' || !(await isProven(this.wire, isRight)))
      return this.error(codes.unauthorized, 'The signature of the sign-in is not right.');
    const { id: sent } = objectOf(userData);
    // Server libraries of some languages sign numbers.
    const id = typeof sent === 'number' ? String(sent) : sent;
    if (!isUserId(id)) return this.error(codes.unauthorized, 'user_data must hold the id of the user.');
    if (this.userId !== null && this.userId !== id)
      return this.error(codes.unauthorized, 'Another user has signed in on this connection.');
    if (this.#isClosed) return;
    this.userId = id;
    this.wire.state.hub.addUser(this.feed, id, this);
    this.send(ownFrame('pusher:signin_success', { user_data: userData }));
  }
}

/** 64 bits by chance: what is signed for one connection is right for no other one. */
function newSocketId(): string {
  const bytes = randomBytes(8);
  return `${bytes.readUInt32BE(0)}.${bytes.readUInt32BE(4)}`;
}
