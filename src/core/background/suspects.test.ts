import { expect, test, vi } from 'vitest';
import { Suspects } from './suspects.ts';

const turn = { accountId: 'a' };
const job = (id: string) => ({ id });

test('a suspect waits for what runs, and everything else waits for it', () => {
  const suspects = new Suspects<object, object>();
  const [one, suspect] = [job('one'), job('suspect')];
  const ended = suspects.begin(one);
  suspects.await(turn);
  expect(suspects.next()).toBe('nothing');
  ended();
  expect(suspects.next()).toBe(turn);
  expect(suspects.isFor(turn)).toBe(true);
  suspects.noteClaim(suspect);
  const suspectEnded = suspects.begin(suspect);
  expect(suspects.next()).toBe('nothing');
  suspectEnded();
  expect(suspects.next()).toBe('all');
  expect(suspects.isFor(turn)).toBe(false);
});

test('a turn that finds no suspect any more, or no place, keeps nobody waiting', () => {
  const suspects = new Suspects<object, object>();
  suspects.await(turn);
  expect(suspects.next()).toBe(turn);
  expect(suspects.next()).toBe('all');
});

test('what has run for long neither keeps a suspect waiting nor is alone any more', () => {
  vi.useFakeTimers();
  const suspects = new Suspects<object, object>(10);
  const suspect = job('suspect');
  const ended = suspects.begin(job('long'));
  suspects.await(turn);
  expect(suspects.next()).toBe('nothing');
  vi.advanceTimersByTime(30);
  expect(suspects.next()).toBe(turn);
  suspects.noteClaim(suspect);
  const suspectEnded = suspects.begin(suspect);
  expect(suspects.next()).toBe('nothing');
  vi.advanceTimersByTime(30);
  expect(suspects.next()).toBe('all');
  for (const end of [ended, suspectEnded]) end();
  expect(suspects.next()).toBe('all');
  vi.useRealTimers();
});
