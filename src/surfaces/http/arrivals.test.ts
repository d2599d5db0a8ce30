import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Arrivals } from './arrivals.ts';

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function arrivals(workMs: number, lateMs = 10_000) {
  const gone: string[] = [];
  const late: string[] = [];
  const queue = new Arrivals<string>({
    sliceMs: 2,
    acceptingMs: 4,
    lateMs,
    burstMs: 30,
    burstLateMs: 10_000,
    max: 1_000,
    go(item) {
      busy(workMs);
      gone.push(item);
    },
    late: (item) => late.push(item),
  });
  return { gone, late, queue };
}

test('requests of a turn go together at its end, many in slices, and the event loop turns in between', async () => {
  const { gone, queue } = arrivals(0.5);
  for (let i = 0; i < 40; i += 1) queue.add('a', String(i));
  expect(gone).toEqual([]);
  await turn();
  expect(gone.length).toBeGreaterThan(0);
  expect(gone.length).toBeLessThan(20);
  while (queue.waiting > 0) await turn();
  expect(gone).toEqual(Array.from({ length: 40 }, (_, i) => String(i)));
});

test('the one request of an address does not wait for the hundred of another', async () => {
  const { gone, queue } = arrivals(0.5);
  for (let i = 0; i < 100; i += 1) queue.add('many', 'many');
  queue.add('one', 'one');
  while (queue.waiting > 0) await turn();
  expect(gone.indexOf('one')).toBeLessThan(12);
  expect(gone).toHaveLength(101);
});

test('who has waited too long, or finds no room, is late; nobody is lost', async () => {
  const { gone, late, queue } = arrivals(1, 20);
  for (let i = 0; i < 1_100; i += 1) queue.add('a', String(i));
  expect(late.length).toBeGreaterThan(90);
  while (queue.waiting > 0) await turn();
  expect(gone.length).toBeLessThan(200);
  expect(gone.length + late.length).toBe(1_100);
  await turn();
  await turn();
  queue.add('a', 'afterwards');
  await turn();
  expect(gone.at(-1)).toBe('afterwards');
});

test('while connections come, turns are kept short, but requests wait for no longer than said', async () => {
  const { gone, queue } = arrivals(1);
  for (let i = 0; i < 20; i += 1) {
    queue.noteAccepted();
    queue.add('a', String(i));
    await turn();
  }
  expect(gone.length).toBeLessThan(20);
  // Connections come without end: without the bound none would ever begin.
  while (gone.length === 0) {
    queue.noteAccepted();
    await turn();
  }
  while (queue.waiting > 0) await turn();
  expect(gone).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
});

test('however long the turns take that accept, requests begin after what they may wait', async () => {
  const { gone, queue } = arrivals(0);
  queue.noteAccepted();
  queue.add('a', 'waits');
  expect(gone).toEqual([]);
  for (let i = 0; i < 3 && gone.length === 0; i += 1) {
    queue.noteAccepted();
    busy(5);
    await turn();
  }
  expect(gone).toEqual(['waits']);
});
