import { expect, test } from 'vitest';
import { chargesOf } from './simulate.ts';

const plan = { trigger: 5, amount: 20, perDay: 3, perMonth: 30, limit: 1_000 };

test('as many charges as the spend asks for, and none for what fits', () => {
  expect(chargesOf(plan, [0, 0, 0])).toEqual({ times: 0, usd: 0, shortDays: 0 });
  expect(chargesOf(plan, [20])).toEqual({ times: 0, usd: 0, shortDays: 0 });
  expect(chargesOf(plan, [20.01])).toEqual({ times: 1, usd: 20, shortDays: 0 });
  expect(chargesOf(plan, [10, 10, 10, 10])).toEqual({ times: 1, usd: 20, shortDays: 0 });
  expect(chargesOf(plan, [70])).toEqual({ times: 3, usd: 60, shortDays: 0 });
});

test('each cap holds, and says on how many days it left the wallet empty', () => {
  expect(chargesOf({ ...plan, perDay: 1 }, [70, 0])).toEqual({ times: 2, usd: 40, shortDays: 1 });
  expect(chargesOf({ ...plan, perMonth: 2 }, [50, 50])).toEqual({ times: 2, usd: 40, shortDays: 1 });
  expect(chargesOf({ ...plan, limit: 39 }, [50, 1])).toEqual({ times: 1, usd: 20, shortDays: 2 });
});
