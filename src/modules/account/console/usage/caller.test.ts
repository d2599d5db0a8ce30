import { expect, test } from 'vitest';
import { callerName } from './caller.ts';

test('who called is told by name: a key, whoever looks, another person, the operator, or else the id', () => {
  const names = new Map([
    ['key_1', 'crawler'],
    ['pers_2', 'ann@example.org, in the console'],
  ]);
  const told = (id: string) => callerName({ personId: 'pers_1' }, id, names);
  expect(['key_1', 'pers_1', 'pers_2', 'sess_1', 'key_2'].map(told)).toEqual([
    ...['crawler', 'you, in the console', 'ann@example.org, in the console', 'the operator, in the console', 'key_2'],
  ]);
});
