// A model of some processes that come, change, leave and are swept: what is told of each channel and member must alternate, and agree with the rows.
import { expect, test } from 'vitest';
import { type Changes, changesOf, type Held, MEMBERS_MAX } from './changes.ts';
import type { MemberRow, OccupancyRow } from './store.ts';

class Rows {
  occupied: OccupancyRow[] = [];
  members: MemberRow[] = [];

  write(process_id: string, held: ReadonlyMap<string, Held>): Changes {
    const changes = changesOf(process_id, held, this);
    const { saved, deleted, joined, left } = changes.rows;
    const gone = (row: OccupancyRow) =>
      row.process_id === process_id && (deleted.includes(row.channel) || saved.some((s) => s.channel === row.channel));
    this.occupied = [...this.occupied.filter((row) => !gone(row)), ...saved.map((row) => ({ ...row, process_id }))];
    const out = (row: MemberRow) =>
      row.process_id === process_id && left.some((l) => l.channel === row.channel && l.user_id === row.user_id);
    this.members = [...this.members.filter((row) => !out(row)), ...joined.map((row) => ({ ...row, process_id }))];
    return changes;
  }
}

const here = (subscriptions: number | null, ...users: string[]): Held => ({
  subscriptions,
  members: new Map(users.map((user) => [user, '{}'])),
});
const one = (held: Held) => new Map([['presence-a', held]]);
const told = ({ told: all }: Changes) =>
  all.map(({ kind, userId }) => (userId === undefined ? kind : `${kind} ${userId}`));

test('the first process tells of channel and member, the second of neither, and the last that leaves of both', () => {
  const rows = new Rows();
  expect(told(rows.write('p1', one(here(1, 'u'))))).toEqual(['occupied', 'added u']);
  expect(told(rows.write('p2', one(here(1, 'u'))))).toEqual([]);
  expect(told(rows.write('p1', one(here(null))))).toEqual([]);
  expect(told(rows.write('p1', one(here(null))))).toEqual([]);
  expect(told(rows.write('p2', one(here(null))))).toEqual(['removed u', 'vacated']);
  expect(rows).toEqual(new Rows());
});

test('who comes to another process before the first is swept was never away', () => {
  const rows = new Rows();
  rows.write('p1', one(here(2, 'u', 'v')));
  expect(told(rows.write('p2', one(here(1, 'u'))))).toEqual([]);
  expect(told(rows.write('p1', one(here(null))))).toEqual(['removed v']);
});

test('a repeat after a commit of unknown outcome tells nothing twice', () => {
  const rows = new Rows();
  rows.write('p1', one(here(1, 'u')));
  const again = rows.write('p1', one(here(1, 'u')));
  expect(again).toMatchObject({ told: [], rows: { saved: [], joined: [] } });
});

test('a channel holds 1,000 members of all processes, and a second process of a member is let in', () => {
  const rows = new Rows();
  const users = (from: number, count: number) => Array.from({ length: count }, (_, i) => `u${from + i}`);
  rows.write('p1', one(here(600, ...users(0, 600))));
  const { refused } = rows.write('p2', one(here(500, ...users(590, 500))));
  expect(refused.size).toBe(90);
  expect(new Set(rows.members.map((row) => row.user_id)).size).toBe(MEMBERS_MAX);
  expect(rows.write('p2', one(here(1, 'u0'))).refused.size).toBe(0);
});

test('members of much information fill a channel sooner', () => {
  const rows = new Rows();
  const members = new Map(Array.from({ length: 1_000 }, (_, i) => [`u${i}`, `"${'x'.repeat(2_000)}"`]));
  expect(rows.write('p1', one({ subscriptions: 1_000, members })).refused.size).toBeGreaterThan(600);
});

test('over 20,000 random changes of 4 processes every channel and member is told of in turns', () => {
  const rows = new Rows();
  const on = new Set<string>();
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (let i = 0; i < 20_000; i += 1) {
    const held = new Map<string, Held>();
    for (let c = random(3); c >= 0; c -= 1) {
      const users = Array.from({ length: random(4) }, () => `u${random(5)}`);
      held.set(`presence-${random(4)}`, random(3) === 0 ? here(null) : here(users.length + 1, ...users));
    }
    for (const { kind, channel, userId } of rows.write(`p${random(4)}`, held).told) {
      const what = userId === undefined ? channel : `${channel} ${userId}`;
      const begins = kind === 'occupied' || kind === 'added';
      expect(on.has(what)).toBe(!begins);
      if (begins) on.add(what);
      else on.delete(what);
    }
    if (i % 100 === 0) expect([...on].sort()).toEqual(present(rows));
  }
});

function present({ occupied, members }: Rows): string[] {
  return [
    ...new Set([...occupied.map(({ channel }) => channel), ...members.map((m) => `${m.channel} ${m.user_id}`)]),
  ].sort();
}
