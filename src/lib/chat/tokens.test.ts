import { expect, test } from 'vitest';
import { countTokens } from './tokens.ts';

test.each([
  ['', 0],
  ['hello world', 2],
  ['The quick brown fox jumps over the lazy dog.', 10],
  ['<|endoftext|>', 7],
])('%j has %i tokens', (text, tokens) => {
  expect(countTokens(text)).toBe(tokens);
});

test('no text takes time that grows with its square', () => {
  const texts = [
    'a'.repeat(200_000),
    '漢'.repeat(200_000),
    ' '.repeat(200_000),
    '(['.repeat(100_000),
    '9'.repeat(200_000),
  ];
  countTokens(texts[0] as string);
  const shortMs = timeOf(() => texts.map((text) => countTokens(text.slice(0, 20_000))));
  const longMs = timeOf(() => texts.map((text) => countTokens(text)));
  expect(longMs).toBeLessThan(40 * shortMs + 100);
});

test.each(['a', ' ', 'é'])('a run of %j over 8 million characters is counted', (letter) => {
  expect(countTokens(letter.repeat(8_000_000))).toBeGreaterThan(100_000);
});

test('a text in pieces has as many tokens as the whole, but for some at the cuts', () => {
  const text = `${'word '.repeat(500)}${'x'.repeat(1_000)}${' end'.repeat(100)}`;
  expect(countTokens(text)).toBeGreaterThan(600);
  expect(countTokens(text)).toBeLessThan(900);
});

function timeOf(run: () => unknown): number {
  const startedMs = performance.now();
  run();
  return performance.now() - startedMs;
}
