import { expect, test } from 'vitest';
import type { Logger } from '../process/logger.ts';
import { repeat } from './repeat.ts';

test('a failure is logged, and the work goes on until it is ended', async () => {
  const logged: unknown[] = [];
  const log = { warn: (fields: object, message: string) => logged.push([fields, message]) } as unknown as Logger;
  const thrice = Promise.withResolvers<void>();
  let times = 0;
  const end = repeat({
    everyMs: 1,
    log,
    failed: 'it could not be read',
    async work() {
      times += 1;
      if (times === 3) thrice.resolve();
      if (times === 1) throw new Error('away');
    },
  });
  await thrice.promise;
  await end();
  const atEnd = times;
  // Of two that are repeated as often, the other has run again and again.
  const others = Promise.withResolvers<void>();
  let turns = 0;
  const endOther = repeat({
    everyMs: 1,
    log,
    failed: '',
    async work() {
      turns += 1;
      if (turns === 5) others.resolve();
    },
  });
  await others.promise;
  await endOther();
  expect(times).toBe(atEnd);
  expect(logged).toEqual([[{ err: new Error('away') }, 'it could not be read']]);
});

test('its end waits for work under way', async () => {
  const begun = Promise.withResolvers<void>();
  const work = Promise.withResolvers<void>();
  let isDone = false;
  const end = repeat({
    everyMs: 1,
    log: {} as Logger,
    failed: '',
    async work() {
      begun.resolve();
      await work.promise;
      isDone = true;
    },
  });
  await begun.promise;
  const ended = end();
  work.resolve();
  await ended;
  expect(isDone).toBe(true);
});
