import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type GroupingParts, groupingOf } from './fingerprint.ts';

const nothing: GroupingParts = {
  fingerprint: null,
  message: null,
  exceptionType: null,
  exceptionValue: null,
  title: null,
  code: null,
};
const everything: GroupingParts = {
  fingerprint: 'mine',
  message: 'the message',
  exceptionType: 'TypeError',
  exceptionValue: 'x is undefined',
  title: 'the title',
  code: 'E_CODE',
};
const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
const of = (parts: Partial<GroupingParts>) => groupingOf({ ...nothing, ...parts }).fingerprint;

describe('the key is the first that was sent', () => {
  test.each([
    [everything, 'mine', 'user'],
    [{ ...everything, fingerprint: null }, 'the message', 'default'],
    [{ ...everything, fingerprint: null, message: null }, 'TypeError: x is undefined', 'default'],
    [{ ...everything, fingerprint: null, message: null, exceptionValue: '' }, 'TypeError', 'default'],
    [{ ...everything, fingerprint: null, message: '', exceptionType: null }, 'x is undefined', 'default'],
    [{ ...nothing, title: 'the title', code: 'E_CODE' }, 'the title', 'default'],
    [{ ...nothing, code: 'E_CODE' }, 'E_CODE', 'default'],
    [nothing, 'error', 'default'],
  ] as const)('%j', (parts, key, source) => {
    expect(groupingOf(parts)).toEqual({ fingerprint: sha256(key), source });
  });
});

describe('a fingerprint', () => {
  test('text is hashed as it is, braces included', () => {
    expect(of({ fingerprint: 'X' })).toBe(sha256('X'));
    expect(of({ fingerprint: '{{ default }}', message: 'm' })).toBe(sha256('{{ default }}'));
  });

  test('a list of one is its element, a longer one its JSON', () => {
    expect(of({ fingerprint: ['a'] })).toBe(sha256('a'));
    expect(of({ fingerprint: ['a', 'b'] })).toBe(sha256('["a","b"]'));
    expect(of({ fingerprint: ['a', 'b'] })).not.toBe(of({ fingerprint: ['ab'] }));
    expect(of({ fingerprint: ['b', 'a'] })).not.toBe(of({ fingerprint: ['a', 'b'] }));
  });

  test('{{ default }} in a list stands for the default key', () => {
    expect(of({ fingerprint: ['{{ default }}'], message: 'm' })).toBe(sha256('m'));
    expect(of({ fingerprint: ['{{default}}', 'eu'], message: 'm' })).toBe(sha256('["m","eu"]'));
  });

  test.each([[''], [[]], [['']], [null]])('%j counts as not sent', (fingerprint) => {
    expect(groupingOf({ ...everything, fingerprint })).toEqual({
      fingerprint: sha256('the message'),
      source: 'default',
    });
  });
});

test('texts are hashed as UTF-8 bytes: NFC and NFD differ, emoji and right-to-left text are text', () => {
  for (const text of ['é', 'e\u0301', '😀👩‍👩‍👧', 'שלום \u202e', ' a ', 'a'])
    expect(of({ message: text })).toBe(sha256(text));
  expect(of({ message: 'é' })).not.toBe(of({ message: 'e\u0301' }));
});
