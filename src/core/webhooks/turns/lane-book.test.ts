import { expect, test } from 'vitest';
import { LaneBook, type Turn } from './lane-book.ts';
import { HEALTH, type Health, Slots } from './slots.ts';

const lane = (webhookId: string, accountId = 'a') => ({ accountId, webhookId });
const book = () => new LaneBook(new Slots({ unknown: 400, healthy: 400, failing: 400, slow: 4 }));

/** The database's answer to a claim: `claimed` deliveries, and whether more are due. */
function serve(lanes: LaneBook, turn: Turn, claimed: number, more: boolean, health: Health = HEALTH.unknown): void {
  const { accountId, webhookId } = turn.lane;
  lanes.served(turn, { accountId, webhookId, health, more }, claimed);
}

const names = (turns: readonly Turn[]) => turns.map((turn) => `${turn.lane.webhookId}:${turn.slots.length}`);

test('a lane begins with one attempt, doubles with each success up to 32, and falls back to one after a failure', () => {
  const lanes = book();
  lanes.found(lane('w'), HEALTH.unknown);
  const rooms: number[] = [];
  for (const succeeded of [true, true, true, true, true, true, false, true]) {
    const [turn] = lanes.nextTurns() as [Turn];
    rooms.push(turn.slots.length);
    serve(lanes, turn, turn.slots.length, true);
    for (const slot of turn.slots) lanes.ended(lane('w'), slot, null);
    const [probe] = lanes.nextTurns() as [Turn];
    serve(lanes, probe, 1, true);
    lanes.ended(lane('w'), probe.slots[0] as never, succeeded);
  }
  expect(rooms).toEqual([1, 2, 4, 8, 16, 32, 32, 1]);
});

test('a lane that was served goes behind the others', () => {
  const lanes = book();
  for (const name of ['x', 'y', 'z']) lanes.found(lane(name), HEALTH.healthy);
  const [first, ...others] = lanes.nextTurns() as [Turn, ...Turn[]];
  for (const turn of others) lanes.notServed(turn);
  serve(lanes, first, 0, true, HEALTH.healthy);
  expect(names(lanes.nextTurns())).toEqual(['y:1', 'z:1', 'x:1']);
});

test('a lane with all its attempts under way waits for one of them to end', () => {
  const lanes = book();
  lanes.found(lane('w'), HEALTH.failing);
  const [turn] = lanes.nextTurns() as [Turn];
  serve(lanes, turn, 1, true, HEALTH.failing);
  expect(lanes.nextTurns()).toEqual([]);
  expect(lanes.ended(lane('w'), turn.slots[0] as never, false)).toBe(true);
  expect(names(lanes.nextTurns())).toEqual(['w:1']);
});

test('a found lane without room gets a turn once, to be taken over; then only with room', () => {
  const lanes = new LaneBook(new Slots({ unknown: 4, healthy: 4, failing: 1, slow: 1 }));
  lanes.found(lane('x'), HEALTH.failing);
  lanes.found(lane('y'), HEALTH.failing);
  const [x, y] = lanes.nextTurns() as [Turn, Turn];
  expect(names([x, y])).toEqual(['x:1', 'y:0']);
  serve(lanes, x, 1, false, HEALTH.failing);
  serve(lanes, y, 0, true, HEALTH.failing);
  expect(lanes.nextTurns()).toEqual([]);
  expect(lanes.unfinished()).toMatchObject([lane('y')]);
  lanes.ended(lane('x'), x.slots[0] as never, false);
  expect(names(lanes.nextTurns())).toEqual(['y:1']);
});

test('a lane that another transaction holds is asked for again, and given up in the end', () => {
  const lanes = book();
  lanes.found(lane('w'), HEALTH.unknown);
  for (let miss = 0; miss < 21; miss += 1) {
    const [turn] = lanes.nextTurns() as [Turn];
    lanes.served(turn, undefined, 0);
  }
  expect(lanes.waiting).toBe(0);
});

test('places are taken for as many deliveries as were due the last time and one more, for all it may have once there are more', () => {
  const lanes = book();
  const turnOf = () => lanes.nextTurns()[0] as Turn;
  lanes.found(lane('w'), HEALTH.healthy);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const turn = turnOf();
    serve(lanes, turn, 1, true, HEALTH.healthy);
    lanes.ended(lane('w'), turn.slots[0] as never, true);
  }
  expect(turnOf().slots.length).toBe(32);
  for (const [claimed, more, next] of [
    [4, false, 5],
    [5, true, 27],
  ] as const) {
    lanes.found(lane('w'), HEALTH.healthy);
    const turn = turnOf();
    serve(lanes, turn, claimed, more, HEALTH.healthy);
    lanes.found(lane('w'), HEALTH.healthy);
    expect(turnOf().slots.length).toBe(next);
    for (const slot of turn.slots) lanes.ended(lane('w'), slot, null);
  }
});

test('lanes that wait for a place hide none behind them that another kind of place is free for', () => {
  const lanes = new LaneBook(new Slots({ unknown: 4, healthy: 4, failing: 1, slow: 1 }));
  for (const name of ['x', 'y', 'z']) lanes.found(lane(name), HEALTH.failing);
  for (const turn of lanes.nextTurns()) serve(lanes, turn, turn.slots.length, true, HEALTH.failing);
  lanes.found(lane('h'), HEALTH.healthy);
  expect(names(lanes.nextTurns())).toEqual(['h:1']);
});

test('a lane that fails while it waits goes to the failing ones, and blocks no healthy one', () => {
  const lanes = new LaneBook(new Slots({ unknown: 4, healthy: 4, failing: 0, slow: 1 }));
  lanes.found(lane('w'), HEALTH.healthy);
  const [turn] = lanes.nextTurns() as [Turn];
  serve(lanes, turn, 1, true, HEALTH.healthy);
  lanes.found(lane('v'), HEALTH.healthy);
  const [other] = lanes.nextTurns() as [Turn];
  serve(lanes, other, 0, true, HEALTH.healthy);
  lanes.ended(lane('w'), turn.slots[0] as never, false);
  expect(names(lanes.nextTurns())).toEqual(['v:1']);
});

test('failing lanes begin so many attempts at once, their accounts in turn', () => {
  const lanes = new LaneBook(new Slots({ unknown: 400, healthy: 400, failing: 400, slow: 4 }));
  const many = Array.from({ length: 100 }, (_, i) => lane(`m${i}`, 'a'));
  for (const one of [...many, lane('b1', 'b')]) lanes.found(one, HEALTH.failing);
  const first = lanes.nextTurns();
  expect(first.length).toBe(101);
  expect(first.filter(({ slots }) => slots.length === 1).length).toBe(64);
  for (const turn of first) serve(lanes, turn, turn.slots.length, true, HEALTH.failing);
  // Those without a place were taken over; b's waits behind 36 of a, and is the second of the next.
  lanes.found(lane('h'), HEALTH.healthy);
  expect(names(lanes.nextTurns())).toEqual(['h:1']);
});
