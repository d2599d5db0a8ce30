import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

test('no more than the maximum runs at a time, in order, and a failure gives its turn on', async () => {
  const turns = new Turns(2);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const settled = await Promise.allSettled(
    [0, 1, 2, 3, 4].map((i) =>
      turns.run(async () => {
        begun.push(i);
        running += 1;
        most = Math.max(most, running);
        await turn();
        running -= 1;
        if (i === 1) throw new Error('failed');
        return i;
      }),
    ),
  );
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
  expect(settled.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, true, true]);
});
