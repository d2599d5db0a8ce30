import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { Problem } from '../../../problems/problem.ts';
import { decodeInline } from './inline-image.ts';

test.each([
  ['base64', '+/8=', '', 'fbff'],
  ['base64url', '-_8', '', 'fbff'],
  ['two characters of padding', '-w==', '', 'fb'],
  ['a data URL', '+/8=', 'data:image/svg+xml;base64,', 'fbff'],
  ['a data URL in capitals', 'AAAA', 'DATA:image/PNG;BASE64,', '000000'],
])('an inline picture may be %s', (_, text, head, hex) => {
  expect(Buffer.from(decodeInline(head + text)).toString('hex')).toBe(hex);
});

test.each(['', '=', '==', 'AA===', 'A=AA', 'AA A', 'AA\n', 'data:image/png;base64,', 'data:image/png,AAAA', 'é'])(
  'and is not %j',
  (sent) => {
    expect(() => decodeInline(sent)).toThrow(Problem);
  },
);

test('however long it is, also when V8 optimizes no expression any more, as it does after very many of them', () => {
  setFlagsFromString('--no-regexp-optimization');
  try {
    const sent = 'AAAA'.repeat(4 * 1024 * 1024);
    expect(decodeInline(sent)).toHaveLength(12 * 1024 * 1024);
    expect(() => decodeInline(`${sent}!`)).toThrow(Problem);
  } finally {
    setFlagsFromString('--regexp-optimization');
  }
});
