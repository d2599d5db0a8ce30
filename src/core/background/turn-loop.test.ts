import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLog } from '../process/log.ts';
import { turnLoop } from './turn-loop.ts';

const NEVER_MS = 60_000;

/** Accounts with jobs to be claimed; each runs until it is let go. */
function bench(due: Map<string, number>, places: number) {
  let finds = 0;
  const running: (() => void)[] = [];
  const begun: string[] = [];
  const loop = turnLoop({
    name: 'test.work',
    log: createLog('silent'),
    places,
    placesPerTurn: 16,
    claimsAtOnce: 1,
    intervalMs: NEVER_MS,
    async find() {
      finds += 1;
      return [...due].filter(([, jobs]) => jobs > 0).map(([accountId]) => ({ accountId }));
    },
    async claim({ accountId }, room) {
      const taken = Math.min(room, due.get(accountId) ?? 0);
      due.set(accountId, (due.get(accountId) ?? 0) - taken);
      return new Array(taken).fill(accountId);
    },
    run(accountId: string) {
      begun.push(accountId);
      return new Promise<void>((resolve) => running.push(resolve));
    },
  });
  return { loop, begun, running, finds: () => finds };
}

const settled = () => sleep(20);

test('the end of a job is no reason to look again when nobody lacked a place', async () => {
  const { loop, begun, running, finds } = bench(new Map([['a', 3]]), 64);
  loop.start();
  await settled();
  expect(begun).toEqual(['a', 'a', 'a']);
  const before = finds();
  for (const end of running) end();
  await settled();
  expect(finds()).toBe(before);
  await loop.stop();
});

test('who lacked a place is served as soon as one is free', async () => {
  const { loop, begun, running } = bench(new Map([['a', 100]]), 8);
  loop.start();
  await settled();
  const first = begun.length;
  expect(first).toBeLessThan(100);
  for (let ended = 0; ended < 100; ended += 1) {
    running[ended]?.();
    await settled();
  }
  expect(begun).toHaveLength(100);
  await loop.stop();
});
