import { expect, it } from 'vitest';
import { findChanged } from './gen-migrations.ts';

const RELEASED = { '0001_a.sql': 'aa', '0002_b.sql': 'bb' };

it('takes a migration that is new', () =>
  expect(findChanged(RELEASED, { ...RELEASED, '0003_c.sql': 'cc' })).toEqual([]));

it('refuses one that was committed with another text', () => {
  const [sentence, ...others] = findChanged(RELEASED, { ...RELEASED, '0002_b.sql': 'b2' });
  expect(sentence).toMatch(/^migrations\/0002_b\.sql has changed.*restore it and put the change into a new file$/);
  expect(others).toEqual([]);
});

it('refuses one that is gone, or has another name', () => {
  expect(findChanged(RELEASED, { '0001_a.sql': 'aa', '0002_other.sql': 'bb' })).toEqual([
    expect.stringContaining('migrations/0002_b.sql is gone'),
  ]);
});
