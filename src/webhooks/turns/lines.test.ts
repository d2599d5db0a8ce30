import { expect, onTestFinished, test, vi } from 'vitest';
import { Lines, type Turn } from './lines.ts';
import { HEALTH, type Health, Places } from './places.ts';

const line = (webhookId: string, accountId = 'a') => ({ accountId, webhookId });
const newLines = () => new Lines(new Places({ unknown: 400, healthy: 400, failing: 400, slow: 4 }));

/** The database's answer to a claim: `claimed` deliveries, and whether more are due. */
function serve(lines: Lines, turn: Turn, claimed: number, more: boolean, health: Health = HEALTH.unknown): void {
  const { accountId, webhookId } = turn.line;
  lines.endTurn(turn, { accountId, webhookId, health, more }, claimed);
}

const names = (turns: readonly Turn[]) => turns.map((turn) => `${turn.line.webhookId}:${turn.places.length}`);

test('a line begins with one attempt, doubles with each success up to 32, and falls back to one after a failure', () => {
  const lines = newLines();
  lines.noteDue(line('w'), HEALTH.unknown);
  const rooms: number[] = [];
  for (const succeeded of [true, true, true, true, true, true, false, true]) {
    const [turn] = lines.nextTurns() as [Turn];
    rooms.push(turn.places.length);
    serve(lines, turn, turn.places.length, true);
    for (const place of turn.places) lines.endAttempt(line('w'), place, null);
    const [probe] = lines.nextTurns() as [Turn];
    serve(lines, probe, 1, true);
    lines.endAttempt(line('w'), probe.places[0] as never, succeeded);
  }
  expect(rooms).toEqual([1, 2, 4, 8, 16, 32, 32, 1]);
});

test('a line that was served goes behind the others', () => {
  const lines = newLines();
  for (const name of ['x', 'y', 'z']) lines.noteDue(line(name), HEALTH.healthy);
  const [first, ...others] = lines.nextTurns() as [Turn, ...Turn[]];
  for (const turn of others) lines.notServed(turn);
  serve(lines, first, 0, true, HEALTH.healthy);
  expect(names(lines.nextTurns())).toEqual(['y:1', 'z:1', 'x:1']);
});

test('a line with all its attempts under way waits for one of them to end', () => {
  const lines = newLines();
  lines.noteDue(line('w'), HEALTH.failing);
  const [turn] = lines.nextTurns() as [Turn];
  serve(lines, turn, 1, true, HEALTH.failing);
  expect(lines.nextTurns()).toEqual([]);
  expect(lines.endAttempt(line('w'), turn.places[0] as never, false)).toBe(true);
  expect(names(lines.nextTurns())).toEqual(['w:1']);
});

test('a found line without room gets a turn once, to be taken over; then only with room', () => {
  const lines = new Lines(new Places({ unknown: 4, healthy: 4, failing: 1, slow: 1 }));
  lines.noteDue(line('x'), HEALTH.failing);
  lines.noteDue(line('y'), HEALTH.failing);
  const [x, y] = lines.nextTurns() as [Turn, Turn];
  expect(names([x, y])).toEqual(['x:1', 'y:0']);
  serve(lines, x, 1, false, HEALTH.failing);
  serve(lines, y, 0, true, HEALTH.failing);
  expect(lines.nextTurns()).toEqual([]);
  expect(lines.unfinishedLines()).toMatchObject([line('y')]);
  lines.endAttempt(line('x'), x.places[0] as never, false);
  expect(names(lines.nextTurns())).toEqual(['y:1']);
});

test('a line that another transaction holds is asked for again, and given up in the end', () => {
  const lines = newLines();
  lines.noteDue(line('w'), HEALTH.unknown);
  for (let miss = 0; miss < 21; miss += 1) {
    const [turn] = lines.nextTurns() as [Turn];
    lines.endTurn(turn, undefined, 0);
  }
  expect(lines.waiting).toBe(0);
});

test('places are taken for as many deliveries as were due the last time and one more, for all it may have once there are more', () => {
  const lines = newLines();
  const turnOf = () => lines.nextTurns()[0] as Turn;
  lines.noteDue(line('w'), HEALTH.healthy);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const turn = turnOf();
    serve(lines, turn, 1, true, HEALTH.healthy);
    lines.endAttempt(line('w'), turn.places[0] as never, true);
  }
  expect(turnOf().places.length).toBe(32);
  for (const [claimed, more, next] of [
    [4, false, 5],
    [5, true, 27],
  ] as const) {
    lines.noteDue(line('w'), HEALTH.healthy);
    const turn = turnOf();
    serve(lines, turn, claimed, more, HEALTH.healthy);
    lines.noteDue(line('w'), HEALTH.healthy);
    expect(turnOf().places.length).toBe(next);
    for (const place of turn.places) lines.endAttempt(line('w'), place, null);
  }
});

test('lines that wait for a place hide none behind them that another kind of place is free for', () => {
  const lines = new Lines(new Places({ unknown: 4, healthy: 4, failing: 1, slow: 1 }));
  for (const name of ['x', 'y', 'z']) lines.noteDue(line(name), HEALTH.failing);
  for (const turn of lines.nextTurns()) serve(lines, turn, turn.places.length, true, HEALTH.failing);
  lines.noteDue(line('h'), HEALTH.healthy);
  expect(names(lines.nextTurns())).toEqual(['h:1']);
});

test('a line that fails while it waits goes to the failing ones, and blocks no healthy one', () => {
  const lines = new Lines(new Places({ unknown: 4, healthy: 4, failing: 0, slow: 1 }));
  lines.noteDue(line('w'), HEALTH.healthy);
  const [turn] = lines.nextTurns() as [Turn];
  serve(lines, turn, 1, true, HEALTH.healthy);
  lines.noteDue(line('v'), HEALTH.healthy);
  const [other] = lines.nextTurns() as [Turn];
  serve(lines, other, 0, true, HEALTH.healthy);
  lines.endAttempt(line('w'), turn.places[0] as never, false);
  expect(names(lines.nextTurns())).toEqual(['v:1']);
});

test('failing lines begin so many attempts at once, their accounts in turn', () => {
  // Further attempts are earned with time.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines = new Lines(new Places({ unknown: 400, healthy: 400, failing: 400, slow: 4 }));
  const many = Array.from({ length: 100 }, (_, i) => line(`m${i}`, 'a'));
  for (const one of [...many, line('b1', 'b')]) lines.noteDue(one, HEALTH.failing);
  const first = lines.nextTurns();
  expect(first.length).toBe(101);
  expect(first.filter(({ places }) => places.length === 1).length).toBe(64);
  for (const turn of first) serve(lines, turn, turn.places.length, true, HEALTH.failing);
  // Those without a place were taken over; b's waits behind 36 of a, and is the second of the next.
  lines.noteDue(line('h'), HEALTH.healthy);
  expect(names(lines.nextTurns())).toEqual(['h:1']);
});
