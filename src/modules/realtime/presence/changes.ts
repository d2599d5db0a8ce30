// Pure diff of a process's subscribers and members against the stored rows: gives row changes and the events to announce. A channel is occupied,
// and a user is a member, while any process has a row. So each change is announced once, by the process that writes the first row or deletes the
// last.
import type { MemberRow, OccupancyRow, Rows } from './store.ts';

export const MEMBERS_MAX = 1_000;
/** Of all members of a channel: everybody who joins is sent all of them. */
export const MEMBERS_BYTES_MAX = 640 * 1024;

/** What a process has of a channel now. */
export interface Held {
  /** Null: nothing any more. */
  readonly subscriptions: number | null;
  /** Their user_info as JSON text, by user id. */
  readonly members: ReadonlyMap<string, string>;
}

export interface Told {
  readonly kind: 'occupied' | 'vacated' | 'added' | 'removed';
  readonly channel: string;
  /** Of a member. */
  readonly userId?: string;
  readonly userInfo?: string;
}

export interface Changes {
  readonly rows: Rows;
  readonly told: readonly Told[];
  /** Of each channel: who is there, by all processes. */
  readonly members: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Members of this process that do not fit into their channel, as `channel user`. */
  readonly refused: ReadonlySet<string>;
}

export interface Stored {
  readonly occupied: readonly OccupancyRow[];
  readonly members: readonly MemberRow[];
}

export function refusedKey(channel: string, userId: string): string {
  return `${channel} ${userId}`;
}

export function changesOf(processId: string, held: ReadonlyMap<string, Held>, stored: Stored): Changes {
  const found = { occupied: Map.groupBy(stored.occupied, byChannel), members: Map.groupBy(stored.members, byChannel) };
  const changes = {
    rows: { saved: [], deleted: [], joined: [], left: [] } as Mutable,
    told: [] as Told[],
    members: new Map<string, ReadonlyMap<string, string>>(),
    refused: new Set<string>(),
  };
  for (const [channel, now] of held) {
    // A channel is occupied before its first member is added, and vacated after the last one is removed.
    const occupied = found.occupied.get(channel) ?? [];
    if (now.subscriptions !== null) occupy(changes, channel, { processId, now: now.subscriptions, rows: occupied });
    changeMembers(changes, channel, { processId, now, rows: found.members.get(channel) ?? [] });
    if (now.subscriptions === null) vacate(changes, channel, { processId, rows: occupied });
  }
  return changes;
}

interface Mutable {
  readonly saved: Pick<OccupancyRow, 'channel' | 'subscriptions'>[];
  readonly deleted: string[];
  readonly joined: Pick<MemberRow, 'channel' | 'user_id' | 'user_info'>[];
  readonly left: Pick<MemberRow, 'channel' | 'user_id'>[];
}

interface Building {
  readonly rows: Mutable;
  readonly told: Told[];
  readonly members: Map<string, ReadonlyMap<string, string>>;
  readonly refused: Set<string>;
}

const byChannel = ({ channel }: { readonly channel: string }) => channel;

interface Here<Row> {
  readonly processId: string;
  readonly rows: readonly Row[];
}

function occupy(to: Building, channel: string, { processId, now, rows }: Here<OccupancyRow> & { now: number }): void {
  const ours = rows.find((row) => row.process_id === processId);
  if (rows.length === 0) to.told.push({ kind: 'occupied', channel });
  if (ours?.subscriptions !== now) to.rows.saved.push({ channel, subscriptions: now });
}

function vacate(to: Building, channel: string, { processId, rows }: Here<OccupancyRow>): void {
  if (!rows.some((row) => row.process_id === processId)) return;
  to.rows.deleted.push(channel);
  if (rows.length === 1) to.told.push({ kind: 'vacated', channel });
}

function changeMembers(to: Building, channel: string, { processId, now, rows }: Here<MemberRow> & { now: Held }): void {
  if (rows.length === 0 && now.members.size === 0) return;
  const there = new Map(rows.map((row) => [row.user_id, row.user_info]));
  const ours = new Set(rows.filter((row) => row.process_id === processId).map((row) => row.user_id));
  const elsewhere = new Set(rows.filter((row) => row.process_id !== processId).map((row) => row.user_id));
  for (const userId of ours) {
    if (now.members.has(userId)) continue;
    to.rows.left.push({ channel, user_id: userId });
    if (elsewhere.has(userId)) continue;
    to.told.push({ kind: 'removed', channel, userId, userInfo: there.get(userId) ?? '{}' });
    there.delete(userId);
  }
  let bytes = 0;
  for (const [userId, userInfo] of there) bytes += sizeOf(userId, userInfo);
  for (const [userId, userInfo] of now.members) {
    if (ours.has(userId)) continue;
    if (!there.has(userId)) {
      bytes += sizeOf(userId, userInfo);
      if (there.size >= MEMBERS_MAX || bytes > MEMBERS_BYTES_MAX) {
        bytes -= sizeOf(userId, userInfo);
        to.refused.add(refusedKey(channel, userId));
        continue;
      }
      there.set(userId, userInfo);
      to.told.push({ kind: 'added', channel, userId, userInfo });
    }
    to.rows.joined.push({ channel, user_id: userId, user_info: userInfo });
  }
  to.members.set(channel, there);
}

function sizeOf(userId: string, userInfo: string): number {
  return Buffer.byteLength(userId) * 2 + Buffer.byteLength(userInfo);
}
