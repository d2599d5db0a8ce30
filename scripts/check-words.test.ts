import { expect, test } from 'vitest';
import { proseWords } from './check-words.ts';

test.each([
  ['A queue, and its messages.', 5],
  ['| a | table |\n|---|---|\n| of | words |', 4],
  ['Before.\n```sh\nnpm ci && npm start\n```\nAfter.', 2],
  ['See `queue.publish` — 5 of them.', 5],
])('%j has %i words of prose', (text, words) => {
  expect(proseWords(text)).toBe(words);
});
