import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SocketPace } from './pace.ts';

const MANY = 400;
const FRAME_MS = 0.2;

/** Each takes a frame, which takes a while; the number of those that are through is told. */
function readers(pace: SocketPace, owner: string): { readonly read: () => number } {
  let read = 0;
  const readersOf = Array.from({ length: MANY }, () => ({
    owner,
    goOn() {
      if (!pace.take(this)) return;
      const untilMs = performance.now() + FRAME_MS;
      while (performance.now() < untilMs);
      read += 1;
    },
  }));
  for (const reader of readersOf) reader.goOn();
  return { read: () => read };
}

test('sockets take a small part of a turn of the event loop, and all of them their turn', async () => {
  const { read } = readers(new SocketPace(1_000_000), 'a');
  let before = 0;
  let most = read();
  while (read() < MANY) {
    await turn();
    most = Math.max(most, read() - before);
    before = read();
  }
  expect(most).toBeLessThan(MANY / 10);
});

test('an account that has had its frames of a slice waits for the next one, beside others', async () => {
  const pace = new SocketPace(100);
  const begunMs = performance.now();
  const [first, second] = [readers(pace, 'a'), readers(pace, 'b')];
  // 10 in 100 ms.
  await expect.poll(() => Math.min(first.read(), second.read()), { interval: 5 }).toBeGreaterThanOrEqual(30);
  expect(performance.now() - begunMs).toBeGreaterThan(150);
});
