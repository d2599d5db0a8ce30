import { expect, test } from 'vitest';
import { mendEach } from './sweep.ts';

async function mended(errors: Record<number, Error>, signal = new AbortController().signal) {
  const tried: number[] = [];
  const run = mendEach([1, 2, 3, 4], signal, async (row) => {
    tried.push(row);
    if (errors[row] !== undefined) throw errors[row];
  });
  return { tried, outcome: await run.catch((error: unknown) => error) };
}

test('a row that fails does not stop the rows behind it, and the first error is told', async () => {
  const first = new Error('first');
  expect(await mended({ 2: first, 3: new Error('second') })).toEqual({ tried: [1, 2, 3, 4], outcome: first });
});

test('a lost connection ends the run', async () => {
  const lost = Object.assign(new Error('lost'), { code: 'EPIPE' });
  expect(await mended({ 2: lost })).toEqual({ tried: [1, 2], outcome: lost });
});

test('a run without failures is finished, one that was stopped is not', async () => {
  expect((await mended({})).outcome).toBe(true);
  expect(await mended({}, AbortSignal.abort())).toEqual({ tried: [], outcome: false });
});
