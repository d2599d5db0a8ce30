// Keeps this process's occupancy and presence rows in step with its subscribers. Writes go account by account: many changes in one transaction,
// at most one transaction per account at a time. A leave takes effect after 3 seconds, so a client that reconnects, here or elsewhere, was never
// absent.

import { clockNow } from '../../../core/database-clock.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Services } from '../../../kit/services.ts';
import { Coalescer } from '../../../lib/coalesce.ts';
import { nextSequence } from '../../../lib/sequence.ts';
import { membersFrame } from '../pusher/frames.ts';
import type { Hub } from '../pusher/hub.ts';
import { type Changes, changesOf, type Held, refusedKey, type Told } from './changes.ts';
import { beginLease, endLeases, RENEW_MS, renewLease } from './lease.ts';
import { shownUserId } from './member.ts';
import { insertOwnMessages, type OwnMessage } from './messages.ts';
import { heldBy, lockAccount, members, occupancyRows, writeRows, writeSequence } from './store.ts';

export const GRACE_MS = 3_000;
const TICK_MS = 250;
/** Numbers of subscribers that changed are written so often. */
const COUNTS_EVERY_MS = 1_000;
const BATCH_MAX = 500;
/** Of one transaction: public channels, and presence channels, of which each may have a thousand members. */
const CHANNELS_AT_ONCE = 32;
const PRESENCE_AT_ONCE = 2;

/** Who is in a channel as of `seq`. */
export interface Joined {
  readonly seq: bigint;
  /** What who joins is told. */
  readonly frame: Buffer;
  /** Users of this process that do not fit in. */
  isRefused(userId: string): boolean;
}

type Needs = Pick<Services, 'db' | 'log'>;

export class Occupancy {
  readonly #core: Needs;
  readonly #hub: Hub;
  readonly #told: (accountId: string) => void;
  /** Channels to be written, by account; `at`: performance.now() when they are due. */
  readonly #due = new Map<string, Map<string, number>>();
  readonly #writes: Coalescer<string, Joined>;
  #processId: Promise<string> | null = null;
  #tick: NodeJS.Timeout | null = null;
  #renewedMs = performance.now();
  #isRenewing = false;

  /** `told`: called for each account that has new messages, after their commit. */
  constructor(core: Needs, hub: Hub, told: (accountId: string) => void) {
    this.#core = core;
    this.#hub = hub;
    this.#told = told;
    this.#writes = new Coalescer({
      batchMax: BATCH_MAX,
      run: (accountId, channels) => this.#write(accountId, channels),
    });
  }

  /** Writes what this process has of the channel now. Answers who is there, by all processes. */
  write(accountId: string, channel: string): Promise<Joined> {
    this.#tick ??= setInterval(() => this.#look(), TICK_MS).unref();
    return this.#writes.add(accountId, channel);
  }

  /** The same, now, and again until it succeeds. */
  writeSoon(accountId: string, channel: string): void {
    this.write(accountId, channel).catch((err: unknown) => {
      this.#core.log.warn({ err, accountId }, 'occupancy could not be written; it is tried again');
      this.#later(accountId, channel, COUNTS_EVERY_MS);
    });
  }

  /** The number of subscribers has changed, but not from or to none: it is written within a second. */
  countChanged(accountId: string, channel: string): void {
    this.#later(accountId, channel, COUNTS_EVERY_MS);
  }

  /** The last subscriber, or the last one of a member, has left. */
  noteLeave(accountId: string, channel: string): void {
    this.#later(accountId, channel, GRACE_MS);
  }

  #later(accountId: string, channel: string, ms: number): void {
    const due = this.#due.get(accountId) ?? new Map<string, number>();
    this.#due.set(accountId, due);
    const atMs = performance.now() + ms;
    // Of a member who leaves after another one, the first is due earlier: the write finds the second, and puts it off.
    due.set(channel, Math.min(due.get(channel) ?? atMs, atMs));
  }

  #look(): void {
    const nowMs = performance.now();
    for (const [accountId, due] of this.#due) {
      for (const [channel, atMs] of due) {
        if (atMs > nowMs) continue;
        due.delete(channel);
        this.writeSoon(accountId, channel);
      }
      if (due.size === 0) this.#due.delete(accountId);
    }
    if (nowMs - this.#renewedMs > RENEW_MS && !this.#isRenewing) void this.#renew(nowMs);
  }

  async #renew(nowMs: number): Promise<void> {
    if (this.#processId === null) return;
    this.#isRenewing = true;
    try {
      if (!(await renewLease(this.#core.db, await this.#processId))) this.#begin();
      this.#renewedMs = nowMs;
    } catch (err) {
      this.#core.log.warn({ err }, 'the lease on subscribers could not be renewed');
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Another process has ended this one, which lives: all that it has is written anew. */
  #begin(): void {
    this.#processId = null;
    for (const [accountId, channel] of this.#hub.rooms()) this.#later(accountId, channel, 0);
  }

  async #id(): Promise<string> {
    this.#processId ??= beginLease(this.#core.db).catch((error: unknown) => {
      this.#processId = null;
      throw error;
    });
    return this.#processId;
  }

  async #write(accountId: string, channels: readonly string[]): Promise<Joined[]> {
    const different = [...new Set(channels)];
    const joined = new Map<string, Joined>();
    const processId = await this.#id();
    for (const some of portions(different)) {
      const held = new Map(some.map((channel) => [channel, this.#occupancyOf(accountId, channel)]));
      const written = await this.#change(accountId, processId, held);
      for (const [channel, { subscriptions }] of held) {
        if (subscriptions === null) this.#hub.drop(accountId, channel);
        joined.set(channel, joinedOf(channel, written));
      }
    }
    return channels.map((channel) => joined.get(channel) as Joined);
  }

  /** What this process has of a channel. Who has left, but not for long enough, is due later. */
  #occupancyOf(accountId: string, channel: string): Held {
    const room = this.#hub.room(accountId, channel);
    const nowMs = performance.now();
    const here = new Map<string, string>();
    const isOccupied = room !== undefined && (room.subscriptions.size > 0 || nowMs - room.emptyMs < GRACE_MS);
    if (!isOccupied) return NOTHING;
    let nextMs = room.subscriptions.size === 0 ? room.emptyMs + GRACE_MS : Number.POSITIVE_INFINITY;
    for (const [userId, { userInfo, subscriptions, leftMs }] of room.members) {
      const isHere = subscriptions > 0 || nowMs - leftMs < GRACE_MS;
      if (isHere) here.set(userId, userInfo);
      else room.members.delete(userId);
      if (isHere && subscriptions === 0) nextMs = Math.min(nextMs, leftMs + GRACE_MS);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#later(accountId, channel, nextMs - nowMs);
    return { subscriptions: room.subscriptions.size, members: here };
  }

  async #change(accountId: string, processId: string, held: ReadonlyMap<string, Held>): Promise<Written> {
    const written = await this.#core.db.transaction((tx) => writeChanges(tx, accountId, processId, held));
    if (written.told.some(({ userId }) => userId !== undefined)) this.#told(accountId);
    return written;
  }

  /** Removes what processes have left that are gone. True: there is more. */
  async sweep(signal: AbortSignal): Promise<boolean> {
    const left = await endLeases(this.#core.db);
    for (const { account_id: accountId, process_id: processId } of left) {
      if (signal.aborted) return false;
      const channels = await heldBy(this.#core.db, accountId, processId, CHANNELS_AT_ONCE);
      for (const some of portions(channels)) {
        await this.#change(accountId, processId, new Map(some.map((channel) => [channel, NOTHING])));
      }
    }
    return left.length > 0;
  }

  /** Who subscribes elsewhere within the grace was never away. */
  async close(): Promise<void> {
    if (this.#tick !== null) clearInterval(this.#tick);
    try {
      if (this.#processId !== null) await renewLease(this.#core.db, await this.#processId, GRACE_MS);
    } catch (err) {
      this.#core.log.warn({ err }, 'the lease on subscribers could not be shortened; it ends by itself');
    }
  }
}

interface Written extends Changes {
  /** The account's last number, of the last message that was written if there is one. */
  readonly seq: bigint;
}

const NOTHING: Held = { subscriptions: null, members: new Map() };

/** So many channels as one transaction may change. */
function portions(channels: readonly string[]): string[][] {
  const [presence, others] = [channels.filter(isPresence), channels.filter((channel) => !isPresence(channel))];
  return [...inParts(presence, PRESENCE_AT_ONCE), ...inParts(others, CHANNELS_AT_ONCE)];
}

function inParts(channels: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(channels.length / size) }, (_, i) => channels.slice(i * size, (i + 1) * size));
}

const isPresence = (channel: string) => channel.startsWith('presence-');

const TYPES = {
  occupied: 'realtime.channel.occupied',
  vacated: 'realtime.channel.vacated',
  added: 'realtime.member.added',
  removed: 'realtime.member.removed',
} as const;

/** Writes rows, messages to those who are there, and events. */
async function writeChanges(
  tx: Transaction,
  accountId: string,
  processId: string,
  held: ReadonlyMap<string, Held>,
): Promise<Written> {
  const channels = [...held.keys()];
  const presence = channels.filter(isPresence);
  const lastSeq = await lockAccount(tx, accountId);
  const stored = await Promise.all([
    occupancyRows(tx, accountId, channels),
    members(tx, accountId, presence),
    clockNow(tx),
  ]);
  const changes = changesOf(processId, held, { occupied: stored[0], members: stored[1] });
  if (lastSeq === null) {
    // The account is gone, and with it whoever could be told.
    await writeRows(tx, accountId, processId, { ...changes.rows, saved: [], joined: [] });
    return { ...changes, told: [], seq: 0n };
  }
  const nowMs = stored[2];
  const first = nextSequence(lastSeq, nowMs);
  const messages = changes.told
    .filter(({ userId }) => userId !== undefined)
    .map((told, i) => messageOf(told, first, i));
  const seq = messages.at(-1)?.seq ?? lastSeq;
  if (messages.length > 0) insertOwnMessages(tx, accountId, messages);
  sendEvents(
    tx,
    changes.told.map((told) => ({
      accountId,
      type: TYPES[told.kind],
      data: { object: objectOf(told) },
      requestId: null,
    })),
    nowMs,
  );
  await Promise.all([
    writeRows(tx, accountId, processId, changes.rows),
    messages.length > 0 && writeSequence(tx, accountId, seq),
  ]);
  return { ...changes, seq };
}

function objectOf({ channel, userId }: Told) {
  return userId === undefined ? { channel } : { channel, user_id: userId };
}

function messageOf({ kind, channel, userId = '', userInfo = '{}' }: Told, first: bigint, i: number): OwnMessage {
  const id = shownUserId(userId, userInfo);
  const data = kind === 'added' ? `{"user_id":${id},"user_info":${userInfo}}` : `{"user_id":${id}}`;
  return { seq: first + BigInt(i), channel, event: `pusher_internal:member_${kind}`, data };
}

/** The frame is made once for all who have joined meanwhile. */
function joinedOf(channel: string, { seq, members: all, refused }: Written): Joined {
  let frame: Buffer | null = null;
  return {
    seq,
    get frame() {
      frame ??= membersFrame(channel, all.get(channel) ?? new Map());
      return frame;
    },
    isRefused: (userId) => refused.has(refusedKey(channel, userId)),
  };
}
