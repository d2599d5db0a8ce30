// SQL of FIFO groups. The group row is the lock of its group: every transaction that changes messages of a group must hold it.

import { int8Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { type LockedMessage, lockedColumns } from '../messages/store.ts';

export interface GroupRow {
  readonly group_id: string;
  readonly in_flight: bigint[];
}

/** A message of a locked group, as the rules of delivery and return look at it: a payload is read where it is delivered. */
export interface HeldMessage extends LockedMessage {
  readonly group_id: string;
}

/** One of the first of its group. */
export interface HeadMessage extends HeldMessage {
  readonly retain_from: number | null;
}

// An existing group keeps its head unless an earlier message comes back; the update also locks the row, so that no one
// who finds the group empty removes it before this transaction's message is there.
const upsertGroups = statement(
  'fifo_upsert_groups',
  `INSERT INTO queue.fifo_group AS g (account_id, queue_id, group_id, ready_at, head_seq, in_flight)
   SELECT w.account_id, u.queue_id, u.group_id, u.ready_at, u.head_seq, '{}'
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::text[], $5::timestamptz[], $6::bigint[])
          u(account_id, queue_id, group_id, ready_at, head_seq)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, queue_id, group_id) DO UPDATE
      SET ready_at = CASE WHEN g.in_flight = '{}' AND excluded.head_seq < g.head_seq THEN excluded.ready_at ELSE g.ready_at END,
          head_seq = LEAST(g.head_seq, excluded.head_seq)`,
);
const claimGroups = statement(
  'fifo_claim_groups',
  `WITH c AS MATERIALIZED (
     SELECT g.group_id, g.in_flight
       FROM queue.fifo_group g
      WHERE g.account_id = $1 AND g.queue_id = $2 AND g.ready_at <= core.clock_now() AND g.group_id <> ALL($4::text[])
      ORDER BY g.ready_at, g.head_seq
      LIMIT $3
        FOR UPDATE SKIP LOCKED)
   SELECT c.group_id, c.in_flight FROM c`,
);
// Groups whose lease may have ended, for the exact answers of stats and the dead-letter sweep. Locked afterwards, by name, like
// everywhere else.
const findLapsedGroups = statement(
  'fifo_find_lapsed_groups',
  `SELECT g.group_id
     FROM queue.fifo_group g
    WHERE g.account_id = $1 AND g.queue_id = $2 AND g.ready_at <= core.clock_now() AND g.in_flight <> '{}'
    ORDER BY g.ready_at, g.head_seq
    LIMIT $3`,
);
const lockGroups = statement(
  'fifo_lock_groups',
  `SELECT g.group_id, g.in_flight
     FROM queue.fifo_group g
    WHERE g.account_id = $1 AND g.queue_id = $2 AND g.group_id = ANY($3::text[])
    ORDER BY g.group_id
      FOR UPDATE`,
);
const readBySeq = statement(
  'fifo_read_by_seq',
  `SELECT ${lockedColumns} FROM queue.message m WHERE m.account_id = $1 AND m.queue_id = $2 AND m.seq = ANY($3::bigint[]) ORDER BY m.seq`,
);
const readHeads = statement(
  'fifo_read_heads',
  `SELECT h.*
     FROM unnest($3::text[]) AS g(group_id)
    CROSS JOIN LATERAL (
          SELECT ${lockedColumns}, m.retain_from
            FROM queue.message m
           WHERE m.account_id = $1 AND m.queue_id = $2 AND m.group_id = g.group_id
           ORDER BY m.seq
           LIMIT $4) h`,
);
const readFirst = statement(
  'fifo_read_first',
  `SELECT h.*
     FROM unnest($3::text[]) AS g(group_id)
    CROSS JOIN LATERAL (
          SELECT m.seq, m.group_id, m.visible_at
            FROM queue.message m
           WHERE m.account_id = $1 AND m.queue_id = $2 AND m.group_id = g.group_id
           ORDER BY m.seq
           LIMIT 1) h`,
);
const readLeases = statement(
  'fifo_read_leases',
  `SELECT m.seq, m.group_id, m.visible_at, m.visible_at <= core.clock_now() AS ended
     FROM queue.message m
    WHERE m.account_id = $1 AND m.queue_id = $2 AND m.seq = ANY($3::bigint[]) AND m.leased
    ORDER BY m.seq`,
);
const groupsOf = statement(
  'fifo_groups_of',
  `SELECT DISTINCT m.group_id FROM queue.message m WHERE m.account_id = $1 AND m.queue_id = $2 AND m.seq = ANY($3::bigint[])`,
);
const saveGroup = statement(
  'fifo_save_group',
  `UPDATE queue.fifo_group SET ready_at = $4, head_seq = $5, in_flight = $6::bigint[] WHERE account_id = $1 AND queue_id = $2 AND group_id = $3`,
);
const removeGroup = statement(
  'fifo_remove_group',
  `DELETE FROM queue.fifo_group WHERE account_id = $1 AND queue_id = $2 AND group_id = $3`,
);

export interface GroupHead {
  readonly accountId: string;
  readonly queueId: bigint;
  readonly groupId: string;
  readonly headSeq: bigint;
  readonly readyMs: number;
}

/** Makes sure that the groups of new messages exist; several messages of a group count as their first. Not awaited. */
export function sendGroups(tx: Queryable, heads: readonly GroupHead[]): void {
  const first = new Map<string, GroupHead>();
  for (const head of heads) {
    const id = `${head.accountId}\n${head.queueId}\n${head.groupId}`;
    const known = first.get(id);
    if (known === undefined || head.headSeq < known.headSeq) first.set(id, head);
  }
  const rows = [...first].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, head]) => head);
  void tx.query(upsertGroups, [
    textArray([...new Set(rows.map((row) => row.accountId))].sort()),
    textArray(rows.map((row) => row.accountId)),
    int8Array(rows.map((row) => row.queueId)),
    textArray(rows.map((row) => row.groupId)),
    timestampArray(rows.map((row) => row.readyMs)),
    int8Array(rows.map((row) => row.headSeq)),
  ]);
}

/** Locks up to `limit` groups whose head may be ready, in the order of delivery; `except` and groups locked by others are passed over. */
export async function takeReadyGroups(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  limit: number,
  except: readonly string[],
): Promise<GroupRow[]> {
  return (await tx.query<GroupRow>(claimGroups, [accountId, queueId, limit, textArray([...except])])).rows;
}

export async function takeLapsedGroups(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  limit: number,
): Promise<GroupRow[]> {
  const { rows } = await tx.query<{ group_id: string }>(findLapsedGroups, [accountId, queueId, limit]);
  return takeGroups(
    tx,
    accountId,
    queueId,
    rows.map((row) => row.group_id),
  );
}

/** Locks the named groups, those that exist; waits for other holders. */
export async function takeGroups(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  names: readonly string[],
): Promise<GroupRow[]> {
  if (names.length === 0) return [];
  return (await tx.query<GroupRow>(lockGroups, [accountId, queueId, textArray([...names])])).rows;
}

/** Locks the groups of the given messages; waits for other holders. */
export async function lockGroupsOf(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  seqs: readonly bigint[],
): Promise<GroupRow[]> {
  const { rows } = await tx.query<{ group_id: string }>(groupsOf, [accountId, queueId, int8Array([...seqs])]);
  return takeGroups(
    tx,
    accountId,
    queueId,
    rows.map((row) => row.group_id),
  );
}

export async function readMessages(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  seqs: readonly bigint[],
): Promise<HeldMessage[]> {
  if (seqs.length === 0) return [];
  return (await tx.query<HeldMessage>(readBySeq, [accountId, queueId, int8Array([...seqs])])).rows;
}

/** Delivered messages of locked groups whose leases count: a lease that ended takes every later one of its group with it. */
export async function runningLeases(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  groups: readonly GroupRow[],
): Promise<Set<bigint>> {
  const inFlight = groups.flatMap((group) => group.in_flight);
  const endedGroups = new Set<string>();
  const running = new Set<bigint>();
  for (const { seq, group_id, ended } of await leasesOf(tx, accountId, queueId, inFlight)) {
    if (ended) endedGroups.add(group_id);
    if (!endedGroups.has(group_id)) running.add(seq);
  }
  return running;
}

interface Lease {
  readonly seq: bigint;
  readonly group_id: string;
  readonly visible_at: number;
  readonly ended: boolean;
}

/** Those of `seqs` that are leased, whether or not the lease has ended, in their order. */
async function leasesOf(tx: Queryable, accountId: string, queueId: bigint, seqs: readonly bigint[]): Promise<Lease[]> {
  if (seqs.length === 0) return [];
  return (await tx.query<Lease>(readLeases, [accountId, queueId, int8Array([...seqs])])).rows;
}

/** The first `limit` messages of each group, leased or not. */
export async function readGroupHeads(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  groups: readonly string[],
  limit: number,
): Promise<HeadMessage[]> {
  if (groups.length === 0) return [];
  return (await tx.query<HeadMessage>(readHeads, [accountId, queueId, textArray([...groups]), limit])).rows;
}

/** Brings the rows of locked groups in line with their messages: who is in flight, who is the head and when it is ready; empty groups go. */
export async function refreshGroups(
  tx: Queryable,
  accountId: string,
  queueId: bigint,
  groups: readonly GroupRow[],
  leasedNow: readonly bigint[] = [],
): Promise<void> {
  if (groups.length === 0) return;
  const names = groups.map((group) => group.group_id);
  const [leases, first] = await Promise.all([
    leasesOf(tx, accountId, queueId, [...groups.flatMap((group) => group.in_flight), ...leasedNow]),
    tx.query<Pick<Lease, 'seq' | 'group_id' | 'visible_at'>>(readFirst, [accountId, queueId, textArray([...names])]),
  ]);
  const headOf = new Map(first.rows.map((head) => [head.group_id, head]));
  for (const name of names) {
    const head = headOf.get(name);
    const leased = leases.filter((lease) => lease.group_id === name);
    if (head === undefined) void tx.query(removeGroup, [accountId, queueId, name]);
    else {
      const readyMs = leased.length > 0 ? Math.min(...leased.map((message) => message.visible_at)) : head.visible_at;
      void tx.query(saveGroup, [
        accountId,
        queueId,
        name,
        timestamp(Math.ceil(readyMs)),
        head.seq,
        int8Array(leased.map((message) => message.seq)),
      ]);
    }
  }
}
