// What only looks like a secret stays as it was, down to the last character.
import { expect, test } from 'vitest';
import { everywhere, lookAlikes } from '../../../test/errors/planted.ts';
import { scrubEvent } from './scrub.ts';

test.each(lookAlikes)('%j', (text) => {
  const event = everywhere(text);
  expect(scrubEvent(event)).toEqual(event);
});

test('lines of a program keep calls and members behind a name', () => {
  const lines = [
    'const token = readToken(request);',
    'password: process.env.PASSWORD,',
    'items.map((token) => token.text)',
    'if (token === undefined) return null;',
    'this.password = password ?? null;'.replace('password ??', 'options.password ??'),
  ];
  const event = { exception: { stacktrace: [{ context_pre: lines, context_line: lines[0], context_post: lines }] } };
  expect(scrubEvent(event)).toEqual(event);
});

test('names that are about a secret, or about nothing of the kind', () => {
  const event = {
    user_id: 'jane@example.com',
    level: 'error',
    tags: {
      author: 'Jane',
      authenticated: 'yes',
      keyboard: 'de',
      tokenizer: 'bpe',
      token_type: 'bearer',
      region: 'eu',
    },
    extra: {
      cookieConsentShown: true,
      passwordLength: 12,
      hasPassword: true,
      password_reset_required: false,
      password: null,
      secret: '',
      maxTokens: 4096,
      prompt_tokens: 12,
      session: { startedAt: '2026-01-02T03:04:05Z', page: 3 },
      primaryKey: 'id',
      partition_key: 'a',
      author: 'Jane',
      authority: 'example.com',
      passenger: 'Jane',
      compass: 'north',
      pinned: 'yes',
      signal: 'SIGTERM',
      code: 'E_PAY',
      secretary: 'Jane',
    },
    request: {
      headers: [
        ['content-type', 'text/html'],
        ['accept', '*/*'],
      ],
      method: 'POST',
    },
    user: { id: 17, name: 'Jane', version: '1.2.3' },
  };
  expect(scrubEvent(event)).toEqual(event);
});

test('an event without secrets is not copied but for its first level', () => {
  const event = { extra: { a: [1, { b: 'text' }] }, tags: { c: 'd' } };
  expect(scrubEvent(event)).toBe(event);
});

test('a user id of digits is an id, whatever its check digit says', () => {
  expect(scrubEvent({ user_id: '4111111111111111' })).toEqual({ user_id: '4111111111111111' });
});
