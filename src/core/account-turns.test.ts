import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AccountTurns } from './account-turns.ts';

test('no more than the maximum runs at a time, and an account with much does not make another wait for all of it', async () => {
  const turns = new AccountTurns(2);
  const begun: string[] = [];
  let running = 0;
  let most = 0;
  const work = (name: string) =>
    turns.run(name.charAt(0), async () => {
      begun.push(name);
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      if (name === 'a2') throw new Error('failed');
    });
  const settled = await Promise.allSettled(['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map(work));
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'a5']);
  expect(most).toBe(2);
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  await work('c1');
});

test('what has no room is refused at once: the account by its share, the whole by its bound', async () => {
  const turns = new AccountTurns(1, { max: 3, perOwnerMax: 2 });
  const codes = await Promise.all(
    ['a', 'a', 'a', 'a', 'b', 'c'].map((account) =>
      turns
        .run(account, () => turn())
        .then(
          () => 'ran',
          (error: { code: string }) => error.code,
        ),
    ),
  );
  expect(codes).toEqual(['ran', 'ran', 'ran', 'CONCURRENCY_LIMITED', 'ran', 'OVERLOADED']);
});
