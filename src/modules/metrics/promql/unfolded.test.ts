// The size that is reckoned from the text, beside that of the compiled program.
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { allowedCpuMs } from '../../../../test/support/slowness.ts';
import { threadMsOf } from '../../../../test/support/thread-time.ts';
import { Expressions } from './expressions.ts';
import { unfoldedSize } from './unfolded.ts';

test.each([
  'api|web|worker',
  'a{1000}',
  '((a*)*){900}[0-9]+',
  '((a{31}){31})',
  '(ab|c){100}',
  '(?i)(?P<code>[45]..){20}',
  '(?:a?b?c?){250}',
  String.raw`\Qa{1000}\E[b{9}\]]\x{2014}\p{Greek}\.{3}`,
  '[^]a]{7}[[:alpha:]]{2,5}x{3,}',
  '',
])('%s has about as many instructions as are reckoned', (source) => {
  const program = RE2JS.compile(source).programSize();
  expect(unfoldedSize(source)).toBeGreaterThan(program / 3 - 10);
  expect(unfoldedSize(source)).toBeLessThan(program * 2 + 10);
});

test.each([
  ['large repetitions side by side', 'a{1000}'.repeat(146)],
  ['repetitions in repetitions', '((a{31}){31}){31}'],
  ['a long text, repeated', `(${'ab?'.repeat(330)}){1000}`],
  ['a long text of classes, repeated', `(?:${String.raw`\pL`.repeat(330)}){1000}`],
  ['groups that are never closed', '(a{1000}'.repeat(100)],
])('%s are refused before they are compiled', (_, source) => {
  const expressions = new Expressions();
  // To compile one of them takes 1.5 to 8 s.
  expect(threadMsOf(() => expect(() => expressions.compile(source)).toThrow('too large'))).toBeLessThan(
    allowedCpuMs(200),
  );
  expect(expressions.compiled).toBe(0);
});
