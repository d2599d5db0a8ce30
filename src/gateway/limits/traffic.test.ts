import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { admission } from '../../core/admission.ts';
import { Traffic } from './traffic.ts';

const MIB = 1024 * 1024;
const bounded = (all: Partial<typeof admission.all>) =>
  new Traffic(new Registry(), { ...admission, all: { ...admission.all, ...all } });
const refusedWith = (code: string) => expect.objectContaining({ code });

test('bodies of one account never fill the service; it is told that they are its own', () => {
  const traffic = bounded({ bodyBytesMax: 8 * MIB });
  const [place, other] = [traffic.begin('acct_a'), traffic.begin('acct_b')];
  for (let i = 0; i < 4; i += 1) traffic.receive(place, MIB);
  expect(() => traffic.receive(place, 1)).toThrow(refusedWith('CONCURRENCY_LIMITED'));
  traffic.receive(other, 2 * MIB);
  expect(() => traffic.receive(traffic.begin('acct_c'), 2 * MIB)).toThrow(refusedWith('OVERLOADED'));
  for (const one of [place, place, other]) traffic.end(one);
  traffic.receive(traffic.begin('acct_a'), 4 * MIB);
});

test('a body that turns out to be of an account counts for that one only', () => {
  const traffic = bounded({ bodyBytesMax: 8 * MIB });
  for (let i = 0; i < 2; i += 1) {
    const place = traffic.begin('nobody');
    traffic.receive(place, 2 * MIB);
    traffic.claim(place, 'acct_a');
    traffic.claim(place, 'acct_a');
  }
  const further = traffic.begin('nobody');
  traffic.receive(further, 2 * MIB);
  expect(() => traffic.claim(further, 'acct_a')).toThrow(refusedWith('CONCURRENCY_LIMITED'));
  traffic.end(further);
  traffic.receive(traffic.begin('nobody'), 2 * MIB);
});

test('a call that has ended takes nothing any more', async () => {
  const traffic = bounded({ bodyBytesMax: MIB, places: 2 });
  const place = traffic.begin('acct_a');
  traffic.end(place);
  traffic.receive(place, MIB);
  traffic.claim(place, 'acct_a');
  expect([traffic.run(place), traffic.busy]).toEqual([false, false]);
});

test('one account has half of the places; its further calls wait, and run in their order', async () => {
  const traffic = bounded({ places: 4 });
  const places = Array.from({ length: 4 }, () => traffic.begin('acct_a'));
  const ran: number[] = [];
  const turns = places.map(async (place, i) => {
    if (await traffic.run(place)) ran.push(i);
  });
  await Promise.all(turns.slice(0, 2));
  expect(ran).toEqual([0, 1]);
  expect(traffic.run(traffic.begin('acct_b'))).toBe(true);
  for (const i of [0, 1]) traffic.end(places[i] as (typeof places)[0]);
  await Promise.all(turns);
  expect(ran).toEqual([0, 1, 2, 3]);
});

test('accounts run in turns: who has one call does not wait for the hundred of another', async () => {
  const traffic = bounded({ places: 2 });
  const ran: string[] = [];
  const call = async (owner: string) => {
    const place = traffic.begin(owner);
    await traffic.run(place);
    ran.push(owner);
    setImmediate(() => traffic.end(place));
  };
  await Promise.all([...Array.from({ length: 100 }, () => call('many')), call('one'), call('two')]);
  expect(ran.indexOf('one')).toBeLessThan(5);
  expect(ran.indexOf('two')).toBeLessThan(5);
  expect(ran).toHaveLength(102);
});

test('what waits too long is refused: one account for its own calls, all for those of all', async () => {
  const traffic = bounded({ places: 4, turnWaitMs: 10, turnBurstMs: 0, turnOwnWaitMs: 20, turnLookMs: 5 });
  const hang = (owner: string) => traffic.run(traffic.begin(owner));
  expect([hang('acct_a'), hang('acct_a')]).toEqual([true, true]);
  await expect(hang('acct_a')).rejects.toThrow(refusedWith('CONCURRENCY_LIMITED'));
  expect([hang('acct_b'), hang('acct_c')]).toEqual([true, true]);
  await expect(hang('acct_d')).rejects.toThrow(refusedWith('OVERLOADED'));
});

test('who waits for calls of his own waits longer than the overload of all lets anybody wait', async () => {
  const traffic = bounded({ places: 4, turnWaitMs: 10, turnBurstMs: 0, turnOwnWaitMs: 10_000, turnLookMs: 5 });
  const [first, second, third] = [traffic.begin('acct_a'), traffic.begin('acct_a'), traffic.begin('acct_a')];
  expect([traffic.run(first), traffic.run(second)]).toEqual([true, true]);
  const waiting = traffic.run(third);
  // sleeps: the overload of all is looked at some times meanwhile
  await sleep(50);
  traffic.end(first);
  expect(await waiting).toBe(true);
});

test('a call that ends while it waits leaves its turn to the next', async () => {
  const traffic = bounded({ places: 2 });
  const [first, second, third] = [traffic.begin('a'), traffic.begin('a'), traffic.begin('a')];
  expect(traffic.run(first)).toBe(true);
  const [left, next] = [traffic.run(second), traffic.run(third)];
  traffic.end(second);
  traffic.end(first);
  expect([await left, await next]).toEqual([false, true]);
});

test('a call that only waits for a message holds no place', () => {
  const traffic = bounded({ places: 2 });
  for (let i = 0; i < 100; i += 1) {
    const place = traffic.begin('acct_a');
    expect(traffic.run(place)).toBe(true);
    traffic.idle(place);
  }
});

test('an account that does not read its answers is not given more', () => {
  const traffic = bounded({ answerBytesMax: 8 * MIB });
  expect(traffic.answers.take('acct_a', 2 * MIB)).toBe(true);
  expect(() => traffic.run(traffic.begin('acct_a'))).toThrow(refusedWith('CONCURRENCY_LIMITED'));
  expect(traffic.run(traffic.begin('acct_b'))).toBe(true);
});
