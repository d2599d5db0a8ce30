import { expect, test } from 'vitest';
import { costText, inputText } from './approval.ts';

test('characters that nobody sees are escaped in an input', () => {
  const input = { to: 'a\u202eb', gap: 'x\u200by\u2028z', tag: '\u{e0041}', text: 'Zoë 👍' };
  const text = inputText(input);
  expect(text).toContain('"a\\u202eb"');
  expect(text).toContain('"x\\u200by\\u2028z"');
  expect(text).toContain('"\\udb40\\udc41"');
  expect(text).toContain('Zoë 👍');
  expect(JSON.parse(text)).toEqual(input);
});

test('a long input is told whole, without its indents where these would be most of it', () => {
  const deep = Array.from({ length: 30 }).reduce<unknown>(
    (inner) => [inner],
    Array.from({ length: 20_000 }, () => 1),
  );
  expect(inputText(deep).length).toBeLessThan(50_000);
  expect(JSON.parse(inputText(deep))).toEqual(deep);
});

test('what is free costs nothing', () => {
  expect([costText(0), costText(0.00002), costText(3)]).toEqual(['Nothing', 'At most $0.00002', 'At most $3.00']);
});
