import { expect, test } from 'vitest';
import type { Visit } from '../../../../kit/console/visit.ts';
import { callerName } from './caller.ts';

test('who called is told by name: a key, whoever looks, or else the id', () => {
  const visit = { personId: 'pers_1' } as Visit;
  const keys = new Map([['key_1', 'crawler']]);
  expect(['key_1', 'pers_1', 'pers_2'].map((id) => callerName(visit, id, keys))).toEqual([
    ...['crawler', 'you, in the console', 'pers_2'],
  ]);
});
