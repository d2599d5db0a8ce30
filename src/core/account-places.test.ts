import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AccountPlaces } from './account-places.ts';

const { signal } = new AbortController();
const BOUNDS = { max: 4, perOwnerMax: 3 };

function hanging(places: AccountPlaces) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string, by = signal) =>
    places.run(name.charAt(0), by, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = (name: string) => {
    ends.get(name)?.();
    return turn();
  };
  return { begun, work, end };
}

test('an account whose work hangs leaves a place for another', async () => {
  const { begun, work, end } = hanging(new AccountPlaces(2, { waiting: BOUNDS }));
  const all = [work('a1'), work('a2'), work('b1')];
  await turn();
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'a2']);
  await end('a2');
  await end('b1');
  await Promise.all(all);
});

test('accounts take turns, however much one of them waits for', async () => {
  const { begun, work, end } = hanging(new AccountPlaces(1, { waiting: BOUNDS }));
  const all = ['a1', 'a2', 'a3', 'b1'].map((name) => work(name));
  for (const name of ['a1', 'b1', 'a2', 'a3']) await end(name);
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3']);
  await Promise.all(all);
});

test('what has no room is refused at once: the account by its share, the whole by its bound', async () => {
  const { work, end } = hanging(new AccountPlaces(1, { waiting: BOUNDS }));
  const first = work('a0');
  const waiting = ['a1', 'a2', 'a3'].map((name) => work(name));
  await expect(work('a4')).rejects.toMatchObject({ code: 'CONCURRENCY_LIMITED' });
  waiting.push(work('b1'));
  await expect(work('c1')).rejects.toMatchObject({ code: 'OVERLOADED' });
  for (const name of ['a0', 'b1', 'a1', 'a2', 'a3']) await end(name);
  await Promise.all([first, ...waiting]);
});

test('who leaves gives up waiting, and the place goes to the next', async () => {
  const places = new AccountPlaces(1, { waiting: BOUNDS });
  const { begun, work, end } = hanging(places);
  const first = work('a1');
  const leaving = new AbortController();
  const gone = work('b1', leaving.signal);
  const next = work('c1');
  leaving.abort();
  await expect(gone).rejects.toThrow();
  await end('a1');
  expect(begun).toEqual(['a1', 'c1']);
  await end('c1');
  await Promise.all([first, next]);
});

test('an account alone may have all places of what is soon over, and of others waits for its turn', async () => {
  const { begun, work, end } = hanging(new AccountPlaces(2, { alone: 'all' }));
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => work(name));
  await turn();
  expect(begun).toEqual(['a1', 'a2']);
  for (const name of ['a1', 'a2', 'b1', 'a3', 'a4']) await end(name);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  await Promise.all(all);
});

test('accounts that come again and again keep none waiting that has waited', async () => {
  const { begun, work, end } = hanging(new AccountPlaces(1));
  const all = ['a1', 'a2', 'b1', 'c1'].map((name) => work(name));
  await turn();
  for (const name of ['a1', 'b1', 'c1']) {
    if (name !== 'a1') all.push(work(`${name.charAt(0)}2`));
    await end(name);
  }
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  for (const name of ['a2', 'b2', 'c2']) await end(name);
  await Promise.all(all);
});

test('work that fails gives its place back', async () => {
  const places = new AccountPlaces(1, { alone: 'all' });
  await expect(places.run('a', null, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await places.run('b', null, async () => 'done')).toBe('done');
});
