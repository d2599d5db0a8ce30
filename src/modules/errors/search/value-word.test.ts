import { expect, test } from 'vitest';
import { storedWords } from '../../../lib/words/words.ts';
import { valueWord } from './value-word.ts';

test('the mark of a value is no word of any text, and differs by field and value', () => {
  expect(storedWords([valueWord('level', 'error')])).not.toContain(valueWord('level', 'error'));
  expect(valueWord('tags.a', 'b')).not.toBe(valueWord('tags.a', 'c'));
  expect(valueWord('release', 'b')).not.toBe(valueWord('user_id', 'b'));
});
